/** Holds what the reconciles of machines and rules share in one process. */
import type { GrantPort } from '../../api/grants.ts';
import type { LiveFacts } from '../../rules/live/live-facts.ts';
import type { CheckedRules } from './checked-rules.ts';
import type { TurnOrder } from './execute/order.ts';
import type { Findings } from './findings.ts';
import type { FaultMetrics } from './metrics.ts';
import type { ShadowTally } from './shadow.ts';

export type RemedyFacts = Pick<LiveFacts, 'read' | 'onChange' | 'dueInMs' | 'now'>;

export interface RemedyState {
  readonly facts: RemedyFacts;
  readonly grants: Pick<GrantPort, 'ask' | 'dryRun' | 'announceRules'>;
  readonly checkedRules: CheckedRules;
  readonly findings: Findings;
  readonly tally: ShadowTally;
  readonly turns: TurnOrder;
  readonly metrics?: FaultMetrics;
  readonly machineChanged: (machine: string) => void;
  /** Reports that what a rule found on a machine has changed. */
  readonly ruleChanged: (rule: string) => void;
}

const RULE = 'rule/';
const MACHINE = 'machine/';

export function ruleKey(name: string): string {
  return `${RULE}${name}`;
}

export function machineKey(name: string): string {
  return `${MACHINE}${name}`;
}

export function parseKey(key: string): { readonly rule?: string; readonly machine?: string } {
  if (key.startsWith(RULE)) return { rule: key.slice(RULE.length) };
  return { machine: key.slice(MACHINE.length) };
}
