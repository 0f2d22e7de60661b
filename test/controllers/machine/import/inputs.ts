/** Inputs of the planners of an import: a Machine that has come to a step, and what this process knows of its host. */
import type { Machine } from '../../../../src/api/generated/types.ts';
import { importAttempt } from '../../../../src/controllers/machine/import/attempt.ts';
import { finalFailure, type ImportFailure } from '../../../../src/controllers/machine/import/failure.ts';
import type { ImportInput } from '../../../../src/controllers/machine/import/plan.ts';
import type { CertificateRequestObject } from '../../../../src/kube/auth/certificate-requests.ts';
import type { Condition } from '../../../../src/kube/objects/conditions.ts';
import { condition, machine, NOW } from '../../../support/builders.ts';
import { importedMachine } from './execute/import-bed.ts';

const ORDER = ['HostTrusted', 'PreflightPassed', 'AgentInstalled'] as const;

interface Known {
  readonly host?: Parameters<typeof importedMachine>[1];
  readonly spec?: Partial<Machine['spec']>;
  readonly conditions?: readonly Condition[];
  readonly recorded?: NonNullable<Machine['status']>['import'];
  readonly deleted?: boolean;
}

/** The Machine after so many steps on its host; 3: it is registering. */
export function machineAt(
  steps: number,
  { host, spec, conditions = [], recorded, deleted }: Known = {},
): Machine {
  const { spec: whole } = importedMachine('m', host, spec);
  const reason = ['Connecting', 'Preflight', 'Bootstrapping', 'Registering'][steps] ?? 'Joining';
  const done = ORDER.slice(0, steps).map((type) => condition(type, 'True'));
  const progressing = { ...condition('Progressing', 'True'), reason };
  return machine('m', {
    spec: whole,
    ...(deleted && { metadata: { deletionTimestamp: NOW.toISOString() } }),
    status: {
      conditions: [...done, progressing, ...conditions],
      ...(recorded && { import: recorded }),
    },
  });
}

export function importInput(found: Machine, more: Partial<ImportInput> = {}): ImportInput {
  const attempt = importAttempt(found);
  return { machine: found, attempt, isOpen: true, isHeld: false, isRunning: false, now: NOW, ...more };
}

export function certificateRequestIn(
  state: 'Pending' | 'Approved' | 'Issued' | 'Denied',
): CertificateRequestObject {
  const decided = { Pending: [], Approved: ['Approved'], Issued: ['Approved'], Denied: ['Denied'] }[state];
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r1' },
    spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client' },
    status: {
      conditions: decided.map((type) => ({
        type,
        status: 'True',
        reason: 'NotRegistering',
        message: 'it is not',
      })),
      ...(state === 'Issued' && { certificate: 'Q0VSVA==' }),
    },
  };
}

export const DOWN: ImportFailure = { reason: 'Unreachable', message: 'no route', isFinal: false };
export const MISMATCH: ImportFailure = finalFailure('HostKeyMismatch', 'another key');
