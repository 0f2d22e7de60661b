/** Explains machines to pages on demand: few at a time, each limited in time, and each answer for all who ask within some seconds. */
import type { Clock } from '../../os/clock.ts';
import { withDeadline } from '../../os/deadline.ts';
import { messageOf } from '../../os/errors.ts';
import type { MachineAnswer } from '../../views/machine/detail.ts';

/** Rejects with why the machine cannot be explained. */
export type ExplainMachine = (cluster: string, name: string, signal: AbortSignal) => Promise<string>;

/** Limits how many machines are explained at once, by all of its explainers together. */
export interface ExplainTurns {
  /** Undefined: too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined;
}

/** An explanation reads the whole cluster, as the command does: 2 s and 100 MiB with 10,000 machines. */
const AT_ONCE = 2;
const MAX_WAITING = 8;
const TIMEOUT_MS = 30_000;
/** A machine that changes is read again at once by each page that shows it. */
const KEPT_MS = 5000;
const TOO_MANY = 'too many machines are explained at the moment: try again in some seconds';

export function createExplainTurns(): ExplainTurns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run(work) {
      if (running >= AT_ONCE && waiting.length >= MAX_WAITING) return undefined;
      return begin(work);
    },
  };

  async function begin<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }
}

export interface ExplainerOptions {
  readonly clock: Clock;
  readonly turns: ExplainTurns;
  readonly explain: ExplainMachine;
  /** Whether the page shows the machine: no other cluster is asked. */
  readonly isShown: (cluster: string, name: string) => boolean;
  readonly signal: AbortSignal;
}

export type Explainer = (cluster: string, name: string) => Promise<MachineAnswer> | undefined;

/** Creates an explainer with the rights of one person. Its answers never reject; undefined: the machine is not shown. */
export function createExplainer({ clock, turns, explain, isShown, signal }: ExplainerOptions): Explainer {
  const kept = new Map<string, Promise<MachineAnswer>>();

  return (cluster, name) => {
    if (!isShown(cluster, name)) return undefined;
    const key = `${cluster}/${name}`;
    const known = kept.get(key);
    if (known) return known;
    const answer = ask(cluster, name);
    kept.set(key, answer);
    void forget(key, answer);
    return answer;
  };

  async function forget(key: string, answer: Promise<MachineAnswer>): Promise<void> {
    await answer;
    await clock.sleep(KEPT_MS, signal).catch(() => undefined);
    kept.delete(key);
  }

  async function ask(cluster: string, name: string): Promise<MachineAnswer> {
    const limit = {
      clock,
      ms: TIMEOUT_MS,
      signal,
      expired: () => new Error(`no answer within ${TIMEOUT_MS / 1000} s`),
    };
    try {
      const asked = turns.run(() => withDeadline(limit, (ended) => explain(cluster, name, ended)));
      if (!asked) return { problem: TOO_MANY };
      return { text: await asked, at: clock.now().toISOString() };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }
}
