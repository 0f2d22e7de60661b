/** Jobs as the remedy controller creates them. */
import type { RemedyOperationJob } from '../../src/api/generated/types.ts';

interface JobParts {
  readonly grant?: Pick<RemedyOperationJob['spec']['grant'], 'id' | 'fence'>;
  readonly status?: Partial<NonNullable<RemedyOperationJob['status']>>;
}

/** A reboot of the machine, granted at 12:00 and not begun. */
export function job(
  machine: string,
  { grant = { id: 'g-7-0', fence: 7 }, status }: JobParts = {},
): RemedyOperationJob {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { name: `${machine}-job` },
    spec: {
      machine: { name: machine, uid: `uid-of-${machine}` },
      node: { uid: `uid-${machine}`, bootID: 'boot-1' },
      cause: {
        remedier: 'hang',
        ruleDigest: `sha256:${'0'.repeat(64)}`,
        commit: 'c0ffee',
        case: '51d0e7aa',
        faultClass: 'Kernel',
        evidence: [],
      },
      rung: { name: 'soft', index: 0 },
      attempt: 1,
      group: 'hang',
      risk: 'Node',
      grant: { ...grant, issuedAt: '2030-01-01T12:00:00Z', notAfter: '2030-01-01T12:05:00Z' },
      operationID: 'op-1',
      plan: [step('a', 'CollectDiagnostics@v1', 'None'), step('b', 'Reboot@v1', 'Node')],
      deadline: '2030-01-01T14:00:00Z',
      settle: { succeeded: 'Uncordon', aborted: 'KeepCordon' },
    } as unknown as RemedyOperationJob['spec'],
    ...(status ? { status: { conditions: [], ...status } } : {}),
  };
}

function step(id: string, name: string, risk: 'None' | 'Node'): object {
  return {
    id,
    step: name,
    executor: 'Agent',
    risk,
    timeoutSeconds: 60,
    onFailure: 'Fail',
    onTimeout: 'Fail',
  };
}
