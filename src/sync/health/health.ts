/**
 * Is a cluster settled and healthy with what sync applied to it? The whole of what promotion asks of a cluster.
 * Pure: a function of the objects that were applied, the generation that each got, and what is seen of them now.
 */
import type { KubeObject } from '../../kube/objects/object.ts';
import { plainReadiness } from './builtin-kinds.ts';
import { type Finding, progressing } from './finding.ts';
import { isOurs, ourReadiness } from './kubenode-kinds.ts';

export interface AppliedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** `metadata.generation` in the answer to our write; absent for kinds that have none. */
  readonly generation?: number;
  readonly seen: KubeObject | 'absent' | 'unknown';
}

export interface Blocker {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export type Settlement =
  | { readonly answer: 'Settled'; readonly because: string }
  | {
      readonly answer: 'Progressing' | 'Failed' | 'Unknown';
      /** A CamelCase word for programs. */
      readonly reason: string;
      readonly because: string;
      readonly blocker?: Blocker;
      readonly since?: Date;
      /** Its own controller says when this takes too long; without that, somebody else has to. */
      readonly hasDeadline?: boolean;
    };

/**
 * `blind` says why the cluster, or our view of it, cannot be believed now; then nothing is known, whatever was seen before.
 * One object that failed is a fact even where another cannot be seen; only then comes doubt, and then patience.
 */
export function settlementOf(applied: readonly AppliedObject[], blind?: string): Settlement {
  if (blind !== undefined) return { answer: 'Unknown', reason: 'ViewLost', because: blind };
  const findings = applied.map((object) => ({ object, finding: findingOf(object) }));
  for (const verdict of ['failed', 'unknown', 'progressing'] as const) {
    const first = findings.find(({ finding }) => finding.verdict === verdict);
    if (first) return answerFor(first.object, first.finding);
  }
  return { answer: 'Settled', because: `all ${applied.length} objects are as they should be` };
}

const ANSWERS = { failed: 'Failed', unknown: 'Unknown', progressing: 'Progressing' } as const;

function answerFor(object: AppliedObject, finding: Finding): Settlement {
  if (finding.verdict === 'good') return { answer: 'Settled', because: 'good' };
  const { kind, name, namespace } = object;
  const where = namespace === undefined ? name : `${namespace}/${name}`;
  return {
    answer: ANSWERS[finding.verdict],
    reason: finding.reason,
    because: `${kind} ${where}: ${finding.because}`,
    blocker: { kind, name, ...(namespace === undefined ? {} : { namespace }) },
    ...(finding.since === undefined ? {} : { since: finding.since }),
    ...(finding.hasDeadline ? { hasDeadline: true } : {}),
  };
}

function findingOf(object: AppliedObject): Finding {
  const { seen, generation = 0 } = object;
  if (seen === 'unknown') {
    return { verdict: 'unknown', reason: 'NotSeen', because: 'it cannot be seen' };
  }
  if (seen === 'absent') return progressing('Missing', 'it is not there');
  if (seen.metadata.deletionTimestamp !== undefined) return progressing('Terminating', 'it is being deleted');
  if ((seen.metadata.generation ?? generation) < generation) {
    return progressing('NotSeenYet', `generation ${generation} has not been seen yet`);
  }
  return isOurs(seen) ? ourReadiness(seen, generation) : plainReadiness(seen, generation);
}
