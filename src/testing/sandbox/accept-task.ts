import { compatFailure } from './compat-failure';
import { type JsonObject, textOf } from './json-value';
import { behaviourOf } from './model-behaviour';
import { readDirectives } from './prompt-directives';
import { shortened } from './request-log';
import { type SandboxCore } from './sandbox-core';
import { newTaskId, type SandboxTask } from './sandbox-task';
import { failureFields } from './task-failure';

/** Makes a task of a create request that was judged, at once and for good. */
export function acceptTask(core: SandboxCore, body: JsonObject): SandboxTask {
  const model = textOf(body.model);
  const prompt = textOf(body.prompt);
  const effects = readDirectives(prompt);
  const usual = { ...behaviourOf(model), ...core.options.timing };
  const { prompt: _, ...request } = shortened(body) as JsonObject;
  const failures = core.options.mode === 'compat' ? compatFailure(model) : failureFields;
  const failure = effects.fails && failures(effects.fails, core.tasks.size);
  return core.acceptTask({
    id: newTaskId(model),
    model,
    prompt,
    request,
    createdAt: Date.now(),
    queuedMs: effects.queuedMs ?? usual.queuedMs,
    runningMs: effects.runningMs ?? usual.runningMs,
    ...(failure === undefined ? {} : { failure }),
  });
}
