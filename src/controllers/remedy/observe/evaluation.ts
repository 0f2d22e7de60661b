/** Evaluates the rules whose target a machine is, each by itself: one that fails harms no other. */

import { NODE_REMEDIERS } from '../../../api/generated/resources.ts';
import type { Machine, MachineFault, NodeRemedier } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { lastMoment } from '../../../os/dates.ts';
import { messageOf } from '../../../os/errors.ts';
import { type CompiledRule, type FactReader, UNKNOWN_READING } from '../../../rules/compiled-rule.ts';
import type { RuleResult } from '../../../rules/explain.ts';
import type { RuleEvaluator } from '../../../rules/rule-evaluator.ts';
import { faultsOf, recordedSince } from '../faults.ts';
import { findingsOn, nextFinding, type RemedyFinding } from '../findings.ts';
import type { RemedyState } from '../state.ts';
import { isTarget, labelsOf } from '../targets.ts';

export interface EvaluatedRule {
  readonly remedier: NodeRemedier;
  readonly digest: string;
  readonly compiled: CompiledRule;
  readonly facts: FactReader;
  readonly finding: RemedyFinding;
  /** When the outcome can be another one although nothing changed. */
  readonly dueAt?: Date;
}

export interface EvaluatedMachine {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
}

export interface Evaluation {
  readonly rules: readonly EvaluatedRule[];
  /** The faults of the conditions that these rules ask about. */
  readonly faults: readonly MachineFault[];
}

export async function evaluateRules(
  subject: EvaluatedMachine,
  state: RemedyState,
  context: ReconcileContext,
): Promise<Evaluation> {
  const { machine, node } = subject;
  const nodeUID = node?.metadata.uid;
  const before = findingsOn(state.findings, machine.metadata.name, nodeUID);
  const rules = await rulesFor(subject, state, context);
  const faults = faultsOf({ machine, nodeUID, rules, now: state.facts.now() });
  const evaluated: EvaluatedRule[] = [];
  for (const { evaluate, ...rule } of rules) {
    // Before the evaluation: a duration that reaches its value in between is either found by it, or due.
    const dueAt = dueAtOf(machine.metadata.name, rule.compiled, { state, context });
    const result = await evaluate(rule.facts).catch(failed); // oxlint-disable-line no-await-in-loop -- the engines yield to nothing but each other
    const finding = nextFinding({
      before: before.get(rule.remedier.metadata.name),
      result,
      recorded: recordedSince(rule, faults),
      recordedUnknown: recordedUnknownSince(rule.remedier, subject),
      clearSeconds: rule.remedier.spec.rule.clearSeconds,
      now: context.clock.now(),
    });
    evaluated.push({ ...rule, finding, ...optional('dueAt', dueAt) });
  }
  return { rules: evaluated, faults };
}

/** Returns since when the result is recorded as unknown, for this Node: another process wrote it for people. */
function recordedUnknownSince(
  { metadata: { name } }: NodeRemedier,
  { machine, node }: EvaluatedMachine,
): Date | undefined {
  const wait = machine.status?.remedyWaits?.find(({ rule }) => rule === name);
  const created = node?.metadata.creationTimestamp;
  if (wait?.reason !== 'Indeterminate' || wait.since === undefined || created === undefined) return undefined;
  return lastMoment([new Date(wait.since), new Date(created)]);
}

function dueAtOf(
  machine: string,
  compiled: CompiledRule,
  { state, context }: { readonly state: RemedyState; readonly context: ReconcileContext },
): Date | undefined {
  const now = context.clock.now();
  const dueMs = state.facts.dueInMs(machine, compiled);
  return Number.isFinite(dueMs) ? new Date(+now + Math.ceil(dueMs)) : undefined;
}

type ReadableRule = Omit<EvaluatedRule, 'finding' | 'dueAt'> & { readonly evaluate: RuleEvaluator };

async function rulesFor(
  { machine, node }: EvaluatedMachine,
  state: RemedyState,
  context: ReconcileContext,
): Promise<readonly ReadableRule[]> {
  const labels = labelsOf(machine, node);
  const all = context.view<NodeRemedier>(NODE_REMEDIERS).list();
  const targeting = all.filter((each) => each.spec.mode !== 'Suspended' && isTarget(each, labels));
  const checked = await Promise.all(
    targeting.map(async (remedier) => ({ remedier, ...(await state.checkedRules.check(remedier)) })),
  );
  return checked.flatMap(({ remedier, digest, accepted }) => {
    if (!accepted) return [];
    const { compiled, evaluate } = accepted;
    const facts = guarded(() => state.facts.read(machine.metadata.name, compiled.maxAge));
    return [{ remedier, digest, compiled, evaluate, facts }];
  });
}

/** Returns a reader of facts to which a fact that cannot be read is unknown. */
function guarded(open: () => FactReader): FactReader {
  let reader: FactReader | undefined;
  return (ref) => {
    try {
      reader ??= open();
      return reader(ref);
    } catch {
      return UNKNOWN_READING;
    }
  };
}

function failed(error: unknown): RuleResult {
  const message = messageOf(error);
  return { outcome: 'Indeterminate', because: `the rule could not be evaluated: ${message}` };
}
