/** Objects that the judge of repairs reads, for tests. */
import type { DefenderLedger, LedgerGrant, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../../src/api/names.ts';
import { EMPTY_LEDGER } from '../../../../src/defender/ledger/draft.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type JobParts, remedyJob } from '../../../support/remediers.ts';

type Status = Partial<NonNullable<RemedyOperationJob['status']>>;

/** Of the rule `hung`, with the grant `g-1`. */
export function judgedJob(
  parts: JobParts & { readonly uid?: string } = {},
  status: Status = {},
): RemedyOperationJob {
  const { uid = 'job-1', ...others } = parts;
  const job = remedyJob({ remedier: 'hung', ...others });
  return {
    ...job,
    metadata: { ...job.metadata, uid },
    status: { conditions: [], ...job.status, ...status },
  };
}

/** With one grant on `m-1`. */
export function judgedLedger(grant: Partial<LedgerGrant> = {}): DefenderLedger {
  const entry: LedgerGrant = {
    id: 'g-1',
    fence: 1,
    state: 'Started',
    holder: { kind: 'RemedyOperationJob', name: 'job' },
    action: 'Reboot',
    risk: 'Node',
    issuedAt: new Date(0).toISOString(),
    notAfter: new Date(300_000).toISOString(),
    ...grant,
  };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata: { name: 'default' },
    spec: { ...EMPTY_LEDGER, grants: { 'm-1': entry } },
  };
}

/** `mark`: the grant that it is cordoned for. */
export function judgedNode(parts: {
  readonly uid?: string;
  readonly mark?: string;
  readonly isCordoned?: boolean;
}): KubeObject {
  const { uid = 'node-uid-1', mark, isCordoned = false } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm-1', uid, annotations: mark === undefined ? {} : { [ANNOTATION_CORDONED_BY]: mark } },
    spec: isCordoned ? { unschedulable: true } : {},
  };
}
