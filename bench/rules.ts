/** Every rule for every node, and the time from a change of a Node to the decisions of the rules that read it. */
import { createSystemClock } from '../src/os/system-clock.ts';
import type { CompiledRule } from '../src/rules/compiled-rule.ts';
import { createLiveFacts, type LiveFacts } from '../src/rules/live/live-facts.ts';
import { createRuleIndex } from '../src/rules/live/rule-index.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { loadWithChanges } from './rules/change-load.ts';
import { createEvaluateRules, type EvaluateRules } from './rules/evaluate.ts';
import { createFleet } from './rules/fleet.ts';
import { compiledRules, evaluateDirectly } from './rules/rules.ts';

const NODES = 10_000;
const RULES = 100;
const CHANGES_PER_SECOND = 500;
const LOAD_SECONDS = 20;
/** The same work on a part of the nodes. */
const BASELINE_SHARE = 0.1;

export const bench: Bench = {
  name: 'rules',
  what: `${RULES} rules for ${NODES} nodes, against functions without an engine on the same facts; ${CHANGES_PER_SECOND} changes a second`,
  needsKubenodeFlags: true,
  run,
};

async function run(): Promise<BenchResult> {
  const clock = createSystemClock();
  const fleet = createFleet(NODES, clock.now());
  const facts = createLiveFacts({ views: fleet.views, clock });
  const rules = compiledRules(RULES);
  const evaluate = createEvaluateRules(rules, facts);
  const full = await evaluateAll(evaluate, fleet.names);
  const direct =
    directCpuSeconds(rules, facts, fleet.names.slice(0, NODES * BASELINE_SHARE)) / BASELINE_SHARE;
  const rate = { perSecond: CHANGES_PER_SECOND, seconds: LOAD_SECONDS };
  const load = await loadWithChanges({ fleet, facts, evaluate, index: createRuleIndex(rules), ...rate });
  const p95 = percentile(load.latenciesMs, 0.95);
  globalThis.gc?.();
  return {
    measured: {
      fullCpuSeconds: full.cpuSeconds,
      fullSeconds: full.seconds,
      longestGapMs: full.longestGapMs,
      changeP50Ms: percentile(load.latenciesMs, 0.5),
      changeP95Ms: p95,
      changesPerSecond: load.changesPerSecond,
      evaluationsPerChange: load.evaluations / load.latenciesMs.length,
      residentMiB: process.memoryUsage().rss / 2 ** 20,
    },
    baseline: { fullCpuSeconds: direct },
    ratios: { fullCpuSeconds: full.cpuSeconds / direct },
    gates: [
      { what: 'CPU seconds for all rules and nodes', value: full.cpuSeconds, atMost: 15 },
      { what: 'CPU ms in which the event loop did nothing else', value: full.longestGapMs, atMost: 50 },
      { what: 'ms from a change to its decisions (p95)', value: p95, atMost: 1000 },
      { what: 'changes per second', value: load.changesPerSecond, atLeast: CHANGES_PER_SECOND * 0.95 },
    ],
    setting: { nodes: NODES, rules: RULES, loadSeconds: LOAD_SECONDS },
  };
}

interface FullEvaluation {
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly longestGapMs: number;
}

async function evaluateAll(evaluate: EvaluateRules, names: readonly string[]): Promise<FullEvaluation> {
  // As a full reconcile finds it: the engines exist, and the code is optimized.
  for (const name of names.slice(0, 100)) await evaluate(name); // oxlint-disable-line no-await-in-loop -- in turn
  const gaps = watchGaps();
  const startMs = performance.now();
  const before = process.cpuUsage();
  let indeterminate = 0;
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- as one worker does it
    const outcomes = await evaluate(name);
    for (const outcome of outcomes) indeterminate += outcome === 'Indeterminate' ? 1 : 0;
  }
  const { user, system } = process.cpuUsage(before);
  if (indeterminate === names.length * RULES) throw new Error('no fact is known');
  return {
    cpuSeconds: (user + system) / 1e6,
    seconds: (performance.now() - startMs) / 1000,
    longestGapMs: gaps(),
  };
}

/** The longest time between two turns of the event loop, in CPU time of this thread: other programs do not count. */
function watchGaps(): () => number {
  let lastMs = busyMs();
  let longestMs = 0;
  let isDone = false;
  const turn = (): void => {
    const nowMs = busyMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isDone) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  return () => {
    isDone = true;
    return longestMs;
  };
}

function busyMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function directCpuSeconds(
  rules: ReadonlyMap<string, CompiledRule>,
  facts: LiveFacts,
  names: readonly string[],
): number {
  const before = process.cpuUsage();
  let matches = 0;
  for (const name of names) {
    for (const rule of rules.values()) {
      if (evaluateDirectly(rule, facts.read(name, rule.maxAge)) === 'True') matches += 1;
    }
  }
  const { user, system } = process.cpuUsage(before);
  if (matches > names.length * RULES) throw new Error('more matches than rules');
  return (user + system) / 1e6;
}
