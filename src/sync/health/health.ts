/**
 * Whether a cluster is settled and healthy with what sync applied to it. This is all that promotion asks about a cluster.
 * Pure: a function of the applied objects, the generation of each, and what is observed of them now.
 */
import type { Blocker } from '../../api/generated/types.ts';
import { builtinKindFinding } from '../../kube/health/builtin-kinds.ts';
import { type HealthFinding, progressing } from '../../kube/health/finding.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { HealthExpressions } from './expressions/health-expressions.ts';
import { isKubenodeKind, kubenodeKindFinding } from './kubenode-kinds.ts';

/** The reason of an object that the server does not show to this process. Another process may still read it. */
export const UNREADABLE = 'Unreadable';

export interface AppliedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** `metadata.generation` in the answer to our write; absent for kinds that have none. */
  readonly generation?: number;
  readonly observed: KubeObject | 'absent' | 'unknown';
  /** Why it is unknown. */
  readonly unknownReason?: string;
  /** The expressions of the Pipeline about foreign kinds. */
  readonly expressions?: HealthExpressions;
}

export type Settlement =
  | { readonly answer: 'Settled'; readonly because: string }
  | {
      readonly answer: 'Progressing' | 'Failed' | 'Unknown';
      /** CamelCase code for programs. */
      readonly reason: string;
      readonly because: string;
      readonly blocker?: Blocker;
      readonly since?: Date;
      /** The object's own controller reports when this takes too long; otherwise promotion has to time it. */
      readonly hasDeadline?: boolean;
    };

/**
 * With a `staleReason` the answer is Unknown, whatever was observed before. Otherwise one failed object makes it Failed, even
 * where others are unknown; then unknown goes before progressing.
 */
export function settlementOf(applied: readonly AppliedObject[], staleReason?: string): Settlement {
  if (staleReason !== undefined) return { answer: 'Unknown', reason: 'ViewLost', because: staleReason };
  const findings = applied.map((object) => ({ object, finding: findingOf(object) }));
  for (const state of ['failed', 'unknown', 'progressing'] as const) {
    const inState = findings.filter(({ finding }) => finding.state === state);
    // What no controller has observed comes first: the others may wait for the same controller.
    const first = inState.find(({ finding }) => isNotObserved(finding)) ?? inState[0];
    if (first) return answerFor(first.object, first.finding);
  }
  return { answer: 'Settled', because: `all ${applied.length} objects are healthy` };
}

function isNotObserved(finding: HealthFinding): boolean {
  return finding.state === 'progressing' && finding.reason === 'NotObservedYet';
}

const ANSWERS = { failed: 'Failed', unknown: 'Unknown', progressing: 'Progressing' } as const;

function answerFor(object: AppliedObject, finding: HealthFinding): Settlement {
  if (finding.state === 'healthy') return { answer: 'Settled', because: 'healthy' };
  const { kind, name, namespace } = object;
  const where = namespace === undefined ? name : `${namespace}/${name}`;
  return {
    answer: ANSWERS[finding.state],
    reason: finding.reason,
    because: `${kind} ${where}: ${finding.because}`,
    blocker: { kind, name, ...(namespace === undefined ? {} : { namespace }) },
    ...(finding.since === undefined ? {} : { since: finding.since }),
    ...(finding.hasDeadline ? { hasDeadline: true } : {}),
  };
}

export function findingOf({ observed, generation = 0, ...applied }: AppliedObject): HealthFinding {
  if (observed === 'unknown') {
    const because = ['it cannot be read', applied.unknownReason].filter(Boolean).join(': ');
    return { state: 'unknown', reason: UNREADABLE, because };
  }
  if (observed === 'absent') return progressing('Missing', 'not found');
  if (observed.metadata.deletionTimestamp !== undefined) {
    return progressing('Terminating', 'it is being deleted');
  }
  if ((observed.metadata.generation ?? generation) < generation) {
    return progressing('NotSeenYet', `generation ${generation} has not been observed yet`);
  }
  return isKubenodeKind(observed)
    ? kubenodeKindFinding(observed, generation)
    : otherKindFinding(observed, generation, applied.expressions);
}

function otherKindFinding(
  observed: KubeObject,
  generation: number,
  expressions: HealthExpressions | undefined,
): HealthFinding {
  const byRules = builtinKindFinding(observed, generation);
  // What an older generation reports is about other content.
  if (isNotObserved(byRules)) return byRules;
  return expressions?.finding(observed, byRules) ?? byRules;
}
