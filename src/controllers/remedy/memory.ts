/** Keeps what was found on a machine, and reports which rules that concerns. */
import type { EvaluatedMachine, EvaluatedRule } from './evaluation.ts';
import type { RemedyFinding } from './findings.ts';
import type { RemedyState } from './state.ts';
import type { RemedyWait } from './wait.ts';

/** What is a choice, or ends by itself at once. */
const SILENT: ReadonlySet<RemedyWait['reason']> = new Set(['Observe', 'Shadow', 'Starting', 'JobActive']);

export type RemedyMemory = Pick<RemedyState, 'findings' | 'ruleChanged'>;

/** The wait of a fault that stays is kept until the next plan. */
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
      return [rule, withWait(finding, before.get(rule)?.wait)];
    }),
  );
  findings.set(name, { nodeUID: node?.metadata.uid, byRule });
  for (const rule of new Set([...before.keys(), ...byRule.keys()])) {
    if (before.get(rule)?.outcome !== byRule.get(rule)?.outcome) ruleChanged(rule);
  }
}

function withWait(finding: RemedyFinding, wait: RemedyWait | undefined): RemedyFinding {
  return wait && finding.outcome !== 'NoMatch' ? { ...finding, wait } : finding;
}

/** Returns those that people have not heard of yet. */
export function rememberWaits(
  machine: string,
  waits: ReadonlyMap<string, RemedyWait>,
  { findings, ruleChanged }: RemedyMemory,
): readonly (readonly [rule: string, RemedyWait])[] {
  const known = findings.get(machine);
  if (!known) return [];
  const byRule = new Map(known.byRule);
  const news = [...known.byRule].flatMap(([rule, { wait: before, ...finding }]) => {
    const wait = waits.get(rule);
    byRule.set(rule, wait ? { ...finding, wait } : finding);
    if (before?.denial !== wait?.denial) ruleChanged(rule);
    return wait && isNews(before, wait) ? [[rule, wait] as const] : [];
  });
  findings.set(machine, { ...known, byRule });
  return news;
}

function isNews(before: RemedyWait | undefined, { reason, denial }: RemedyWait): boolean {
  const isSame = reason === before?.reason && denial === before.denial;
  return !isSame && !SILENT.has(reason);
}
