import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP_TOKEN, FINALIZER_MACHINE } from '../../../../src/api/names.ts';
import { formatTokenRecord } from '../../../../src/api/secrets/bootstrap-token.ts';
import {
  type InstancePlanInput,
  type ProviderFacts,
  planInstance,
  shapeOf,
} from '../../../../src/controllers/machine/instance/plan.ts';
import type { Instance } from '../../../../src/providers/contract.ts';
import { ago, machine, NOW, node } from '../../../support/builders.ts';

const ID = 'local:///1';
const FACTS: ProviderFacts = {
  configReason: undefined,
  needsBootstrap: true,
  startsStopped: true,
  bootstrapsOnce: false,
};

function instance(state: Instance['state']): Instance {
  const tags = { clusterUid: 'c', machineUid: 'u' };
  return { id: ID, machine: 'm', tags, state, addresses: [], createdAt: NOW };
}

function token(expiresAt: string, secretUid?: string): Record<string, string> {
  const record = { id: 'abcdef', expiresAt, epoch: 0, replacesAgent: false };
  return {
    [ANNOTATION_BOOTSTRAP_TOKEN]: formatTokenRecord(
      secretUid === undefined ? record : { ...record, secretUid },
    ),
  };
}

interface Parts extends Partial<Omit<InstancePlanInput, 'machine' | 'provider'>> {
  readonly provider?: Partial<ProviderFacts>;
  readonly metadata?: Partial<Machine['metadata']>;
  readonly spec?: Partial<Machine['spec']>;
  /** status.infra has its id. */
  readonly isRecorded?: boolean;
}

function explain({ provider, metadata, spec, isRecorded = false, ...parts }: Parts): string {
  const object = machine('m', {
    metadata: { finalizers: [FINALIZER_MACHINE], ...metadata },
    ...(spec ? { spec } : {}),
    status: isRecorded ? { infra: { providerID: ID } } : {},
  });
  const decision = planInstance({
    machine: object,
    node: undefined,
    found: undefined,
    hasJoined: false,
    deliveredAt: undefined,
    now: NOW,
    ...parts,
    provider: { ...FACTS, ...provider },
  });
  const how = decision.type === 'Create' && decision.withBootstrap ? ' with a token' : '';
  return `${decision.type}${how}: ${decision.because}`;
}

const RUNS = { isRecorded: true, found: instance('Running') };
const STOPPED = { isRecorded: true, found: instance('Stopped') };
const WITHOUT = 'Create with a token: the Machine has no instance';
const LATE = 'Create with a token: the bootstrap token ended before the host joined';

describe('planInstance', () => {
  it.each<[name: string, parts: Parts, want: string]>([
    ['creates what no provider has', {}, WITHOUT],
    [
      'creates without a token where none is needed',
      { provider: { needsBootstrap: false } },
      'Create: the Machine has no instance',
    ],
    [
      'adopts what it created before a crash',
      { found: instance('Running') },
      `Adopt: ${ID} has the UID of this Machine`,
    ],
    [
      'adopts also what is stopped',
      { found: instance('Stopped') },
      `Adopt: ${ID} has the UID of this Machine`,
    ],
    [
      'creates nothing without the finalizer',
      { metadata: { finalizers: [] } },
      'Nothing: the finalizer is not on the Machine yet',
    ],
    [
      'creates nothing for a Machine that is deleted',
      { metadata: { deletionTimestamp: ago(1) } },
      'Nothing: the Machine is being deleted',
    ],
    [
      'starts nothing of a Machine that is deleted',
      { ...STOPPED, metadata: { deletionTimestamp: ago(1) } },
      'Nothing: the Machine is being deleted',
    ],
    [
      'creates nothing of an invalid config',
      { provider: { configReason: 'no such type' } },
      'Nothing: no such type',
    ],
    [
      'creates nothing while held',
      { spec: { hold: { reason: 'x', scope: 'All' } } },
      'Nothing: the machine is held',
    ],
    [
      'creates while only disruptive acts are held',
      { spec: { hold: { reason: 'x', scope: 'Disruptive' } } },
      WITHOUT,
    ],
    [
      'starts nothing while held',
      { ...STOPPED, spec: { hold: { reason: 'x', scope: 'All' } } },
      'Nothing: the machine is held',
    ],
    [
      'creates no second instance for one that is missing',
      { isRecorded: true },
      'Nothing: the instance was not found',
    ],
    [
      'starts what stopped soon after it got its token',
      { ...STOPPED, deliveredAt: new Date(NOW.getTime() - 1000) },
      'PowerOn: the instance is stopped',
    ],
    [
      'gives a token to what stopped and never joined: its create may have been cut off',
      STOPPED,
      'Create with a token: the instance stopped before the host joined',
    ],
    [
      'starts it after the host joined, too',
      { ...STOPPED, hasJoined: true },
      'PowerOn: the instance is stopped',
    ],
    [
      'leaves the start to the provider',
      { ...STOPPED, provider: { startsStopped: false } },
      'Nothing: the instance is Stopped',
    ],
    [
      'waits for what starts',
      { isRecorded: true, found: instance('Pending') },
      'Nothing: the instance is Pending',
    ],
    [
      'does nothing in doubt',
      { isRecorded: true, found: instance('Unknown') },
      'Nothing: the instance is Unknown',
    ],
    ['leaves a host alone that joined', { ...RUNS, hasJoined: true }, 'Nothing: the instance is Running'],
    [
      'gives another token to a host whose token ended',
      { ...RUNS, metadata: { annotations: token(ago(1)) } },
      LATE,
    ],
    ['gives another token when the record is missing', RUNS, LATE],
    [
      'tells a person where a host gets its token once',
      { ...RUNS, provider: { bootstrapsOnce: true } },
      'Nothing: the bootstrap token ended before the host joined. Read the console output of the instance, then delete the Machine; its set creates another one',
    ],
    [
      'waits for a host that joined, also where it gets its token once',
      { ...RUNS, hasJoined: true, provider: { bootstrapsOnce: true } },
      'Nothing: the instance is Running',
    ],
    [
      'waits while the token may be used',
      { ...RUNS, metadata: { annotations: token(ago(-1), 's') } },
      'Nothing: the instance is Running',
    ],
    [
      'waits while a used token delivers its certificate',
      { ...RUNS, metadata: { annotations: token(ago(-1)) } },
      'Nothing: the instance is Running',
    ],
    [
      'waits until the record of its token is observed',
      { ...RUNS, deliveredAt: new Date(NOW.getTime() - 59_999) },
      'Nothing: the instance is Running',
    ],
    ['delivers again a minute later', { ...RUNS, deliveredAt: new Date(NOW.getTime() - 60_000) }, LATE],
    [
      'delivers no token where none is needed',
      { ...RUNS, provider: { needsBootstrap: false } },
      'Nothing: the instance is Running',
    ],
    [
      'leaves a new node alone',
      { ...RUNS, node: node('m'), hasJoined: true },
      'Nothing: the instance is Running',
    ],
  ])('%s', (_, parts, want) => {
    expect(explain(parts)).toBe(want);
  });
});

describe('shapeOf', () => {
  it('is what the provider reads of a Machine', () => {
    const spec = {
      infra: { provider: 'local', config: { type: 'sandbox' } },
      host: { type: 'sandbox' },
      zone: 'z',
    } as const;
    expect(shapeOf(machine('m', { spec }))).toEqual({
      config: { type: 'sandbox' },
      host: 'sandbox',
      zone: 'z',
    });
  });
});
