/**
 * Whether a broken node is as declared again, or reports truly what is wrong. Pure: it compares what programs of the node print with
 * what its conditions claim.
 */
import type { Condition } from '../../../src/kube/objects/conditions.ts';
import { type Claim, claimsOf } from './claims.ts';
import { differencesOf, type NodeDifference } from './differences.ts';
import type { HostObservation, NodeObservation } from './observation.ts';

export type ChaosVerdict =
  | { readonly is: 'AsDeclared' }
  /** The differences, and the sentences that tell them. */
  | {
      readonly is: 'Reported';
      readonly differences: readonly string[];
      readonly sentences: readonly string[];
    }
  | { readonly is: 'Violation'; readonly problems: readonly string[] };

/** By type: its status when all is well. */
const GOOD: Readonly<Record<string, Condition['status']>> = {
  AgentReady: 'True',
  NodeReady: 'True',
  ComponentsReady: 'True',
  UpToDate: 'True',
  DriftDetected: 'False',
};

export function judgeNode(declared: HostObservation, observed: NodeObservation): ChaosVerdict {
  const differences = differencesOf(declared, observed);
  const bad = observed.conditions.filter(({ type, status }) => type in GOOD && status !== GOOD[type]);
  if (differences.length === 0 && bad.length === 0) return { is: 'AsDeclared' };
  const claims = bad.flatMap((condition) => claimsIn(condition, { declared, observed }));
  const problems = [
    ...claims.filter(({ isTrue }) => !isTrue).map(explainClaim),
    ...differences.filter((each) => !isTold(each, claims)).map(explainDifference),
  ];
  if (problems.length > 0) return { is: 'Violation', problems };
  return {
    is: 'Reported',
    differences: differences.map(explain),
    sentences: claims.map(({ type, sentence }) => `${type}: ${sentence}`),
  };
}

interface TypedClaim extends Claim {
  readonly type: string;
}

function claimsIn(
  { type, message }: Condition,
  facts: { readonly declared: HostObservation; readonly observed: NodeObservation },
): readonly TypedClaim[] {
  return claimsOf(message, facts).map((claim) => ({ ...claim, type }));
}

/** Only a true sentence tells something. */
function isTold({ subject }: NodeDifference, claims: readonly TypedClaim[]): boolean {
  return claims.some(({ isTrue, subjects }) => isTrue && subjects.includes(subject));
}

function explain({ subject, text }: NodeDifference): string {
  return `${subject} ${text}`;
}

function explainDifference(difference: NodeDifference): string {
  return `${explain(difference)}, and no condition reports it`;
}

function explainClaim({ type, sentence, subjects }: TypedClaim): string {
  const because = subjects.length > 0 ? 'is not true' : 'is a sentence that the judge does not know';
  return `${type} has "${sentence}", which ${because}`;
}
