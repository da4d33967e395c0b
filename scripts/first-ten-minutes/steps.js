'use strict';

/**
 * What a new user does in the first ten minutes. A step has a text and types one command. `until` waits for words on
 * the screen instead of the prompt, `press` then presses a key, and `kill` first kills everything. With `only`, the page
 * shows the command and these lines.
 */
const STEPS = [
  {
    say: 'Nothing is running yet. `doctor` shows what is missing and how to fix it.',
    type: 'temporal-media doctor',
    only: /^(?!skip)/,
  },
  {
    say: 'In one terminal, start a Temporal server, a sandbox for the service and a worker. The command keeps running.',
    window: 'dev',
    type: 'temporal-media dev',
    until: /--out out/,
  },
  {
    say: 'In another terminal, in the same directory, run `doctor` again. Now it reports that a video can be made.',
    type: 'temporal-media doctor',
    only: /^ok {3}(?:Settings|Temporal|Models|Service|Workers)|^Videos/,
  },
  {
    say: 'List the models that the worker knows, with their allowed values and prices.',
    type: 'temporal-media models ls',
    only: /^(?:ID|cine-1|sketch-lite|image-2|8) /,
  },
  {
    say: 'See what would be sent and what it would cost. `--dry-run` sends nothing.',
    type: 'temporal-media video --model cine-1 --prompt "a lighthouse at dusk" --duration 4 --dry-run',
  },
  {
    say: 'A value that the model does not support is refused before anything starts. The error lists the allowed values.',
    type: 'temporal-media video --model cine-1 --prompt "a lighthouse" --duration 3; echo "exit code $?"',
  },
  {
    say: 'Create the first video. Reusing its id never buys twice.',
    type: 'temporal-media video --model cine-1 --prompt "a paper boat on a lake" --duration 4 --id boat --out out',
  },
  {
    say: 'Run the same command again. It attaches to the first call and returns its result.',
    type: 'temporal-media video --model cine-1 --prompt "a paper boat on a lake" --duration 4 --id boat --out out',
  },
  {
    say: 'Create a video that takes longer: the sandbox reads `[run:25s]`. The progress bar shows only what the service reports.',
    type: 'temporal-media video --model cine-1 --prompt "a lighthouse at dusk [run:25s]" --id lighthouse --out out',
    until: /in_progress \d+%/,
  },
  {
    say: 'Ctrl-C detaches. Nothing is canceled.',
    press: 'C-c',
  },
  {
    say: 'See what is happening and what is safe to do. You can also pass the task id instead of the workflow id.',
    type: 'temporal-media status lighthouse',
  },
  {
    say: 'Simulate a crash: SIGKILL ends the server, the sandbox, the worker and `dev`. Then start `dev` again.',
    kill: true,
    window: 'dev',
    type: 'temporal-media dev',
    until: /--out out/,
    only: /^Ready/,
  },
  {
    say: 'The wait continues until the file is saved. No second video was created.',
    type: 'temporal-media resume lighthouse --out out',
  },
  {
    say: 'A failure prints a message and a hint, and sets the exit code.',
    type: 'temporal-media video --model cine-1 --prompt "[fail:moderation]" --id refused; echo "exit code $?"',
  },
  {
    say: 'An image or an edit is a single call.',
    type: 'temporal-media image --model image-2 --prompt "a teapot" --size 512x512 --id teapot --out out',
  },
  {
    type: 'temporal-media edit --model image-2 --prompt "make it blue" --image out/teapot-1.png --size 512x512 --id blue --out out',
  },
  {
    say: 'For scripts, `--json` prints one JSON object.',
    type: 'temporal-media status boat --json | head -c 300; echo',
  },
  { say: 'Beside each result is a JSON file that describes it.', type: 'ls out' },
  {
    say: 'Ctrl-C in the first terminal stops everything. The next `dev` continues where this one stopped.',
    window: 'dev',
    press: 'C-c',
    only: /^\^C|^Stopped/,
  },
];

module.exports = { STEPS };
