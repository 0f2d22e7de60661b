/** Keeps what was found on a machine, and reports which rules that concerns. */

import { type RemedyWait, reportedReason } from '../../api/status/rule-waits.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { RemedyFinding } from './findings.ts';
import type { EvaluatedMachine, EvaluatedRule } from './observe/evaluation.ts';
import type { RemedyState } from './state.ts';

/** The waits that are not reported, because they are a choice or end by themselves at once. */
const SILENT: ReadonlySet<RemedyWait['reason']> = new Set([
  'Observe',
  'Shadow',
  'Starting',
  'JobActive',
  'NotItsTurn',
]);

export type RemedyMemory = Pick<RemedyState, 'findings' | 'ruleChanged'>;

/** Keeps the findings of a machine. The wait of a fault that stays is kept until the next plan. */
export function rememberFindings(
  { machine, node }: EvaluatedMachine,
  evaluated: readonly Pick<EvaluatedRule, 'remedier' | 'finding'>[],
  { findings, ruleChanged }: RemedyMemory,
): void {
  const { name } = machine.metadata;
  const before = findings.get(name)?.byRule ?? new Map<string, RemedyFinding>();
  const byRule = new Map(
    evaluated.map(({ remedier, finding }): [string, RemedyFinding] => {
      const rule = remedier.metadata.name;
      return [rule, withWait(finding, before.get(rule))];
    }),
  );
  findings.set(name, { nodeUID: node?.metadata.uid, byRule });
  for (const rule of new Set([...before.keys(), ...byRule.keys()])) {
    if (before.get(rule)?.outcome !== byRule.get(rule)?.outcome) ruleChanged(rule);
  }
}

function withWait(finding: RemedyFinding, before: RemedyFinding | undefined): RemedyFinding {
  const { wait, waitSince } = before ?? {};
  if (!wait || finding.outcome === 'NoMatch') return finding;
  return { ...finding, wait, ...optional('waitSince', waitSince) };
}

/** Keeps the waits of a machine. Returns those that people have not heard of yet. */
export function rememberWaits(
  machine: string,
  waits: ReadonlyMap<string, RemedyWait>,
  { findings, ruleChanged, now }: RemedyMemory & { readonly now: Date },
): readonly (readonly [rule: string, RemedyWait])[] {
  const known = findings.get(machine);
  if (!known) return [];
  const byRule = new Map(known.byRule);
  const news = [...known.byRule].flatMap(([rule, { wait: before, waitSince, ...finding }]) => {
    const wait = waits.get(rule);
    byRule.set(
      rule,
      wait ? { ...finding, wait, waitSince: sinceOf(wait, before, waitSince) ?? now } : finding,
    );
    if (before?.denial !== wait?.denial) ruleChanged(rule);
    return wait && isNews(before, wait) ? [[rule, wait] as const] : [];
  });
  findings.set(machine, { ...known, byRule });
  return news;
}

function sinceOf(
  wait: RemedyWait,
  before: RemedyWait | undefined,
  since: Date | undefined,
): Date | undefined {
  return before && reportedReason(before) === reportedReason(wait) ? since : undefined;
}

function isNews(before: RemedyWait | undefined, { reason, denial }: RemedyWait): boolean {
  const isSame = reason === before?.reason && denial === before.denial;
  return !isSame && !SILENT.has(reason);
}
