/**
 * Decides whether a Machine of Cluster API may be handed back now: by its condition OwnerRemediated, after which its owner replaces it. It is
 * judged as the API server has it now, because the answer of its owner is a deletion. Pure.
 */

import { OWNER_REMEDIATED } from '../../../../api/clusterapi/hook-policy.ts';
import { isRecord, listAt, textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { wholeSeconds } from '../../../../os/dates.ts';
import { ANNOTATION_PAUSED, ANNOTATION_SKIP_REMEDIATION } from '../contract.ts';
import type { RemediationDecision } from './judge.ts';
import type { HandBackResult } from './status.ts';

const NOT_FOUND = notDone('OwnerNotFound', 'the Machine of this request was deleted');

export type HandBackPlan =
  | { readonly type: 'Write'; readonly object: KubeObject; readonly result: HandBackResult }
  | { readonly type: 'Report'; readonly result: HandBackResult };

/** `theirs` is undefined when it was not found. */
export function planHandBack(
  decision: Pick<RemediationDecision, 'owner' | 'reason' | 'because'>,
  theirs: KubeObject | undefined,
  now: Date,
): HandBackPlan {
  const { owner, reason, because } = decision;
  const result: HandBackResult = { isDone: true, reason, message: because };
  if (!theirs || theirs.metadata.uid !== owner?.uid) return { type: 'Report', result: NOT_FOUND };
  const objection = handBackObjection(theirs);
  if (objection) return { type: 'Report', result: objection };
  if (statusOf(theirs, OWNER_REMEDIATED) === 'False') return { type: 'Report', result };
  return { type: 'Write', object: handedBackMachine(theirs, because, now), result };
}

/** Returns why nothing is written. */
function handBackObjection(theirs: KubeObject): HandBackResult | undefined {
  const { metadata } = theirs;
  if (metadata.deletionTimestamp !== undefined) {
    return notDone('Deleting', 'the Machine is being deleted already');
  }
  const kept = [ANNOTATION_PAUSED, ANNOTATION_SKIP_REMEDIATION].find((each) =>
    Object.hasOwn(metadata.annotations ?? {}, each),
  );
  if (kept !== undefined) return notDone('OwnerHold', `the Machine has the annotation ${kept}`);
  if (statusOf(theirs, 'HealthCheckSucceeded') !== 'False') {
    return notDone('Healthy', 'the Machine passes its health check: this request will be deleted');
  }
  return (metadata.ownerReferences ?? []).some(({ controller }) => controller === true)
    ? undefined
    : notDone(
        'NoController',
        'the Machine belongs to no MachineSet and no control plane that would replace it',
      );
}

function notDone(reason: string, message: string): HandBackResult {
  return { isDone: false, reason, message };
}

function statusOf(theirs: KubeObject, type: string): string | undefined {
  const found = listAt(theirs, 'status', 'conditions').find(
    (each) => isRecord(each) && each['type'] === type,
  );
  return textAt(found, 'status');
}

/** On the very version that was judged: a pause or a recovery in between refuses the write. */
function handedBackMachine(
  { apiVersion, kind, metadata }: KubeObject,
  because: string,
  now: Date,
): KubeObject {
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  const condition = {
    type: OWNER_REMEDIATED,
    status: 'False',
    // As a health check without external remediation writes it.
    reason: 'WaitingForRemediation',
    message: `kubenode hands the machine back: ${because}`,
    lastTransitionTime: wholeSeconds(now),
  };
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    status: { conditions: [condition] },
  };
}
