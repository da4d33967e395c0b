import { beginCreate, type CreateOnceState } from '../../../src/domain/create-once';
import { ACTIVITY } from '../../../src/domain/names';
import { CREATE_TIMEOUTS } from '../../../src/domain/timeouts';
import {
  NO_SEND,
  type ResolveUnconfirmedCall,
  type UnconfirmedDecision,
} from '../../../src/domain/unconfirmed-decision';
import { createOnce, type CreateOnceResult } from '../../../src/workflows/create-once';
import { activity } from '../../../src/workflows/proxies';
import { makeProcess } from './virtual-time';
import { type ActivityOptions, CancellationScope, type Run } from './workflow-sdk';
import { type World } from './world';

/** What a history says at one point; the timer of a wait that had started fires when it would have fired. */
interface Point {
  readonly state: CreateOnceState;
  readonly waitsUntil: number | null;
}

const PERSON = { by: 'ana', reason: 'looked it up' };

/** One workflow execution with its resets and its runs after continue-as-new. */
export interface Life {
  readonly workflowId: string;
  readonly key: string;
  readonly prompt: string;
  /** The run that lives, or lived last. */
  run: Run;
  /** Runs that one execution consists of: not those before a reset. */
  runIds: string[];
  /** Points that a reset can go back to. */
  readonly points: Point[];
  /** Updates of its history: a server that is reset applies them again. */
  readonly decisions: ResolveUnconfirmedCall[];
  /** Terminated: nobody will be told anything. */
  over: boolean;
  ended: boolean;
}

/**
 * What stands around create-once in src/workflows/generate-video.ts: the first state, continue-as-new with the state
 * carried on, and the end. The decisions and commands in between are the real `createOnce`.
 */
export class Lives {
  readonly all: Life[] = [];
  private runs = 0;

  constructor(
    private readonly world: World,
    private readonly afterEnd: (life: Life, result: CreateOnceResult) => void,
  ) {}

  start(key: string, prompt: string, workflowId = `workflow-${this.all.length + 1}`): Life {
    const run = this.makeRun(workflowId);
    const life: Life = {
      workflowId,
      key,
      prompt,
      run,
      runIds: [run.runId],
      points: [],
      decisions: [],
      over: false,
      ended: false,
    };
    this.all.push(life);
    this.go(life, undefined);
    return life;
  }

  /**
   * Somebody runs the create of this key as an activity without a workflow, with or without retries. Its answer tells
   * nobody anything: what counts is what it sends.
   */
  startStandalone({ key, prompt }: Life): void {
    const { time, plan, observations } = this.world;
    const run = this.makeRun('nobody', undefined, true);
    const retry = { maximumAttempts: time.random.pick([1, 5]), initialInterval: '2s' };
    const options: ActivityOptions = {
      ...{ scheduleToStartTimeout: plan.startLimitMs, startToCloseTimeout: CREATE_TIMEOUTS.startToCloseMs },
      scheduleToCloseTimeout: plan.startLimitMs + 5 * CREATE_TIMEOUTS.startToCloseMs,
      ...{ heartbeatTimeout: CREATE_TIMEOUTS.heartbeatMs, retry },
    };
    observations.standalone += 1;
    time.after(0, run, () => {
      const request = { model: 'video-1', prompt };
      const input = { creationKey: key, request, ...(plan.policy && { policy: plan.policy }) };
      run.schedule(ACTIVITY.createVideo, options, input, run.scope).then(
        () => time.say(() => `${run.runId} has its answer`),
        () => time.say(() => `${run.runId} has failed`),
      );
    });
  }

  /**
   * Somebody decides about the create of unknown fate whose evidence was shown.
   * @param sendId of that evidence
   */
  decide(life: Life, sendId: string | null, decision: UnconfirmedDecision, taskId: string): void {
    const call = { creationKey: life.key, sendId: sendId ?? NO_SEND, decision, taskId, ...PERSON };
    if (decision === 'resubmit') this.world.observations.resubmits.add(call.sendId);
    life.decisions.push(call);
    this.carryOut(life, call);
  }

  /**
   * Carries a decision out as the workflow `resolveUnconfirmed` does: one activity. After a resubmission the same run
   * reads the log again and sends (src/workflows/generate-video.ts), or the id is started again.
   */
  private carryOut(life: Life, call: ResolveUnconfirmedCall): void {
    const { time } = this.world;
    const run = this.makeRun('resolve');
    time.after(0, run, () => {
      const { decision, taskId } = call;
      const sendId = this.world.decidedAbout(life.key, call.sendId);
      time.say(() => `somebody decides about ${sendId}: ${decision} ${decision === 'adopt' ? taskId : ''}`);
      activity(ACTIVITY.resolveUnconfirmed, { summary: decision })({ ...call, sendId }).then(
        (result) => {
          const stands = result.resolved ? result : result.stands;
          if (stands?.decision !== 'resubmit' || life.over) return;
          if (!life.ended || time.random.chance(0.5)) return void this.start(life.key, life.prompt);
          life.ended = false;
          time.after(0, life.run, () => {
            this.go(life, beginCreate(life.key, Date.now()));
          });
        },
        () => time.say(() => 'the decision could not be carried out'),
      );
    });
  }

  cancel({ run }: Life): void {
    this.world.time.after(0, run, () => {
      this.world.time.say(() => `${run.runId} is cancelled`);
      run.scope.cancel();
    });
  }

  terminate(life: Life): void {
    this.world.time.say(() => `${life.run.runId} is terminated`);
    this.kill(life);
    life.over = true;
  }

  /**
   * To its beginning, or to any later point that has a state of its own. A closed execution can be reset as well. The
   * Updates of its history are applied again at any time after that.
   */
  reset(life: Life): void {
    const { random } = this.world.time;
    this.kill(life);
    life.run = this.makeRun(life.workflowId, life.run.originalExecutionRunId);
    life.runIds = [life.run.runId];
    Object.assign(life, { over: false, ended: false });
    const back = random.chance(0.5) || life.points.length === 0 ? undefined : random.pick(life.points);
    this.world.time.say(
      () => `${life.workflowId} is reset to its try ${back?.state.tries ?? 0}: ${life.run.runId}`,
    );
    this.go(life, back?.state, back?.waitsUntil);
    for (const call of life.decisions)
      this.world.time.after(random.pick([0, 1_000, 60_000, 400_000]), this.world.time.world, () =>
        this.carryOut(life, call),
      );
  }

  private kill({ run }: Life): void {
    run.process.dead = true;
    run.closed = true;
    this.world.server.abandon(run);
  }

  private makeRun(workflowId: string, original?: string, isStandalone = false): Run {
    const { server } = this.world;
    const runId = `run-${(this.runs += 1)}`;
    const run: Run = {
      process: makeProcess(runId),
      workflowId,
      runId,
      originalExecutionRunId: original ?? runId,
      ...(isStandalone && { isStandalone }),
      scope: new CancellationScope(),
      closed: false,
      schedule: (activity, options, input, scope) => server.schedule(activity, options, input, scope, run),
    };
    return run;
  }

  private go(life: Life, state: CreateOnceState | undefined, notBefore?: number | null): void {
    const { time, plan, observations } = this.world;
    const { run } = life;
    time.after((notBefore ?? 0) - time.now, run, () => {
      time.say(() => `begins (${life.workflowId}, key ${life.key}, ${life.prompt})`);
      createOnce(state ?? beginCreate(life.key, Date.now()), {
        request: { model: 'video-1', prompt: life.prompt },
        policy: plan.policy,
        startLimitMs: plan.startLimitMs,
        onState: (now, wait) => life.points.push({ state: now, waitsUntil: wait?.until ?? null }),
        shouldHandOver: () => time.random.chance(plan.handOver),
      }).then(
        (result) => this.end(life, run, result),
        (error: unknown) => observations.failures.push(`createOnce threw: ${String(error)}`),
      );
    });
  }

  private end(life: Life, run: Run, result: CreateOnceResult): void {
    const { time, observations } = this.world;
    run.closed = true;
    if (result.kind === 'handover') {
      time.say(() => `continues as new after ${result.state.tries} tries`);
      life.run = this.makeRun(life.workflowId);
      life.runIds.push(life.run.runId);
      if (run.scope.consideredCancelled) life.run.scope.cancel();
      return this.go(life, result.state);
    }
    life.ended = true;
    const answer =
      result.kind === 'settled'
        ? result.answer
        : ({ outcome: 'cancelled', mayBeOwed: result.mayBeOwed } as const);
    time.say(() => `is told ${answer.outcome}`);
    observations.told.push({
      key: life.key,
      prompt: life.prompt,
      runIds: [...life.runIds],
      at: time.now,
      answer,
    });
    this.afterEnd(life, result);
  }
}
