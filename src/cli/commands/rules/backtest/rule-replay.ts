/** Replays recorded facts to the reconcile of the remedy controller, with one rule in mode Shadow. Nothing is written. */
import type { NodeRemedier } from '../../../../api/generated/types.ts';
import { createCheckedRules } from '../../../../controllers/remedy/checked-rules.ts';
import { createRemedyController } from '../../../../controllers/remedy/controller/controller.ts';
import { reconcileMachine } from '../../../../controllers/remedy/controller/machine.ts';
import { createTurnOrder } from '../../../../controllers/remedy/execute/order.ts';
import { createShadowTally } from '../../../../controllers/remedy/shadow.ts';
import { parseKey, type RemedyState } from '../../../../controllers/remedy/state.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Log } from '../../../../kube/process/log.ts';
import { createDelayHeap, type DelayHeap } from '../../../../kube/queue/delay-heap.ts';
import { type CompiledRule, listLeaves } from '../../../../rules/compiled-rule.ts';
import { explainLeaf } from '../../../../rules/explain.ts';
import type { RecordedLine } from '../../../../rules/recording/format.ts';
import { createReplay, type Replay } from '../../../../rules/recording/replay.ts';
import { createReplayContext, storeOf } from './replay-context.ts';
import { createTally, type Tally, type WouldAsk } from './tally.ts';

export interface ReplayedRule {
  /** The rule with the defaults of the API server. */
  readonly remedier: NodeRemedier;
  readonly compiled: CompiledRule;
}

export interface RuleReplay {
  readonly tally: Tally;
  /** Replays a line. Lines are in the order of their times, each with its own in milliseconds since 1970. */
  apply(line: RecordedLine, atMs: number): Promise<void>;
  /** Ends the replay: what follows the last line is not known. */
  end(): Promise<void>;
}

/** The memory that one process of the controllers would have. */
interface ReplayedProcess {
  readonly replay: Replay;
  readonly state: RemedyState;
  readonly context: ReconcileContext;
  /** The asks to the Defender in this reconcile. */
  readonly asks: WouldAsk[];
  readonly dirty: Set<string>;
  readonly due: DelayHeap;
}

export function createRuleReplay({ remedier, compiled }: ReplayedRule, log: Log): RuleReplay {
  const rule = asShadow(remedier);
  const tally = createTally();
  const checkedRules = createCheckedRules();
  let current: ReplayedProcess | undefined;
  let lastMs = -Infinity;
  return {
    tally,
    apply: async (line, atMs) => {
      if (line.type === 'Started') {
        await end();
        current = startProcess(rule, checkedRules, { log, atMs });
      }
      if (!current) throw new Error(`expected a line of type Started first, got ${line.type}`);
      if (atMs > lastMs) await passTime(current, atMs);
      lastMs = atMs;
      current.replay.apply(line);
      if (line.type === 'Synced') {
        for (const { metadata } of current.replay.stores.machines.list()) current.dirty.add(metadata.name);
      }
    },
    end,
  };

  async function end(): Promise<void> {
    if (!current) return;
    await passTime(current, lastMs);
    current.replay.close();
    current = undefined;
    tally.interrupt(lastMs);
  }

  /** Reconciles first what the lines before changed, then what becomes due until then. */
  async function passTime(process: ReplayedProcess, untilMs: number): Promise<void> {
    const { replay, dirty, due } = process;
    if (replay.hasSynced()) {
      await reconcileAll(process, dirty);
      for (let next = due.nextMs(); next !== undefined && next <= untilMs; next = due.nextMs()) {
        replay.advanceTo(next);
        for (const { key } of due.takeDue(next)) dirty.add(key);
        await reconcileAll(process, dirty); // oxlint-disable-line no-await-in-loop -- time passes in order
      }
    }
    replay.advanceTo(untilMs);
  }

  async function reconcileAll(process: ReplayedProcess, dirty: Set<string>): Promise<void> {
    for (const machine of dirty) {
      dirty.delete(machine);
      await reconcile(process, machine); // oxlint-disable-line no-await-in-loop -- each sees what the one before found
    }
  }

  async function reconcile(process: ReplayedProcess, machine: string): Promise<void> {
    const { replay, state, context, asks, due } = process;
    asks.length = 0;
    const { requeueAt } = await reconcileMachine(machine, state, context);
    due.remove(machine);
    const atMs = replay.clock.monotonicMs();
    // Never now, or time would stop.
    if (requeueAt) due.put(machine, Math.max(requeueAt.getTime(), atMs + 1));
    tally.observe(machine, atMs, observedOn(process, machine));
    for (const ask of asks) tally.ask(machine, atMs, ask);
  }

  function observedOn({ state, replay }: ReplayedProcess, machine: string): Parameters<Tally['observe']>[2] {
    const finding = state.findings.get(machine)?.byRule.get(rule.metadata.name);
    if (!finding) return undefined;
    const { outcome, since, wait } = finding;
    const isWaiting = wait !== undefined && !IS_NO_WAIT.has(wait.reason);
    return {
      outcome,
      because: outcome === 'Indeterminate' ? unknownReasons(compiled, replay, machine) : finding.because,
      sinceMs: since?.getTime(),
      ...optional('wait', isWaiting ? `${wait.reason}: ${wait.message}` : undefined),
    };
  }
}

/** Lists each unknown fact that decides, with the reason. */
function unknownReasons(compiled: CompiledRule, { facts }: Replay, machine: string): string {
  const trees = [compiled.conditions, ...(compiled.gate ? [compiled.gate] : [])];
  const reader = facts.read(machine, compiled.maxAge);
  const reasons = trees.flatMap(listLeaves).flatMap((leaf) => {
    const { truth, lines } = explainLeaf(leaf, reader);
    if (truth !== 'Unknown') return [];
    const reason = facts.unknownReason(machine, leaf.ref, compiled.maxAge);
    return [[lines.join('; '), ...(reason === undefined ? [] : [reason])].join(': ')];
  });
  return [...new Set(reasons)].join('; ');
}

/** The reasons that do not count as a wait. `Starting` ends as soon as every machine was evaluated once. */
const IS_NO_WAIT: ReadonlySet<string> = new Set(['Shadow', 'Indeterminate', 'Starting']);

/** Returns the rule in mode Shadow: in every other mode it acts, or does not ask. */
function asShadow({ metadata, spec, ...rest }: NodeRemedier): NodeRemedier {
  return { ...rest, metadata: { name: metadata.name }, spec: { ...spec, mode: 'Shadow' } };
}

function startProcess(
  rule: NodeRemedier,
  checkedRules: RemedyState['checkedRules'],
  { log, atMs }: { readonly log: Log; readonly atMs: number },
): ReplayedProcess {
  const replay = createReplay(log, atMs);
  const { facts, stores } = replay;
  const [asks, dirty]: [WouldAsk[], Set<string>] = [[], new Set()];
  const grants: RemedyState['grants'] = {
    ask: refuseAsk,
    dryRun: (all) => {
      asks.push(...all.map(({ action, risk }) => ({ action, risk })));
      return Promise.resolve(all.map(() => ({ granted: true, dryRun: true })));
    },
  };
  const state: RemedyState = {
    facts,
    grants,
    checkedRules,
    findings: new Map(),
    tally: createShadowTally(),
    // A rule that only shadows takes no turn.
    turns: createTurnOrder(),
    machineChanged: () => undefined,
    ruleChanged: () => undefined,
  };
  facts.onChange((change) => {
    if (checkedRules.affects(change)) dirty.add(change.machine);
  });
  followReads(replay, (machine) => dirty.add(machine));
  return {
    replay,
    state,
    context: createReplayContext(stores, rule, replay.clock, log),
    asks,
    dirty,
    due: createDelayHeap(),
  };
}

/** Subscribes to what the controller declares to read, beside the facts, and reports the machines that each change concerns. */
function followReads({ stores, facts }: Replay, add: (machine: string) => void): void {
  const { reads } = createRemedyController({ facts, grants: { ask: refuseAsk, dryRun: refuseAsk } });
  for (const { resource, keys, changed } of reads) {
    const addAll = (object: KubeObject): void => {
      for (const key of keys?.(object) ?? []) {
        const { machine } = parseKey(key);
        if (machine !== undefined) add(machine);
      }
    };
    storeOf(stores, resource)?.subscribe({
      added: addAll,
      removed: addAll,
      updated: (object, before) => {
        if (!changed || changed(before, object)) addAll(object);
      },
    });
  }
}

function refuseAsk(): Promise<never> {
  return Promise.reject(new Error('a replay asks for no grant'));
}
