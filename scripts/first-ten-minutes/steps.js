'use strict';

/**
 * What a new user does in the first ten minutes. A step says something, then types one command:
 * `until` awaits words on the screen instead of the prompt, `press` then presses a key, `kill` first ends everything.
 */
const STEPS = [
  {
    say: 'Nothing runs yet. `doctor` says what is missing and what to do about it.',
    type: 'temporal-media doctor',
  },
  {
    say: 'In one terminal: a Temporal server, a sandbox of the service and a worker. It stays up.',
    window: 'dev',
    type: 'temporal-media dev',
    until: /--out out/,
  },
  {
    say: 'In another terminal, in the same directory: now a video could be made.',
    type: 'temporal-media doctor',
  },
  {
    say: 'The models that the worker knows, with their allowed values and prices.',
    type: 'temporal-media models ls',
  },
  {
    say: 'What would be sent, and what it would cost. Nothing is sent.',
    type: 'temporal-media video --model cine-1 --prompt "a lighthouse at dusk" --duration 4 --dry-run',
  },
  {
    say: 'A value that the model does not have is refused before anything is started, with the ones that it has.',
    type: 'temporal-media video --model cine-1 --prompt "a lighthouse" --duration 3; echo "exit code $?"',
  },
  {
    say: 'The first video. Reusing its id never buys twice.',
    type: 'temporal-media video --model cine-1 --prompt "a paper boat on a lake" --duration 4 --id boat --out out',
  },
  {
    say: 'Once more, the same: it attaches and returns the first result.',
    type: 'temporal-media video --model cine-1 --prompt "a paper boat on a lake" --duration 4 --id boat --out out',
  },
  {
    say: 'One that takes longer (the sandbox reads `[run:25s]`). A bar shows only what the service reports.',
    type: 'temporal-media video --model cine-1 --prompt "a lighthouse at dusk [run:25s]" --id lighthouse --out out',
    until: /in_progress \d+ %/,
  },
  {
    say: 'Ctrl-C detaches. Nothing is cancelled.',
    press: 'C-c',
  },
  {
    say: 'What happens now, and what is safe to do. A task id alone leads to the same place.',
    type: 'temporal-media status lighthouse',
  },
  {
    say: 'Now the machine crashes: server, sandbox, worker and `dev` are killed with SIGKILL. Then `dev` again.',
    kill: true,
    window: 'dev',
    type: 'temporal-media dev',
    until: /--out out/,
  },
  {
    say: 'The wait goes on to the file. Nothing was created again.',
    type: 'temporal-media resume lighthouse --out out',
  },
  {
    say: 'Failures have words, hints and exit codes of their own.',
    type: 'temporal-media video --model cine-1 --prompt "[fail:moderation]" --id refused; echo "exit code $?"',
  },
  {
    say: 'Images and edits are one call each.',
    type: 'temporal-media image --model image-2 --prompt "a teapot" --size 512x512 --id teapot --out out',
  },
  {
    type: 'temporal-media edit --model image-2 --prompt "make it blue" --image out/teapot-1.png --size 512x512 --id blue --out out',
  },
  { say: 'Scripts read one JSON object.', type: 'temporal-media status boat --json | head -c 300; echo' },
  { say: 'The files, each with its facts beside it.', type: 'ls out' },
  {
    say: 'Ctrl-C in the first terminal stops everything; the next `dev` goes on where it was.',
    window: 'dev',
    press: 'C-c',
  },
];

module.exports = { STEPS };
