import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { formatTokenRecord } from '../../../src/api/secrets/bootstrap-token.ts';
import { createApproverController } from '../../../src/controllers/approver/controller.ts';
import type { CertificateRequestObject } from '../../../src/kube/auth/certificate-requests.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createCertificateRequest } from '../../../src/os/x509/certificate-request.ts';
import { fakeContext } from '../../support/controller/fake-context.ts';
import { NOW } from '../../support/virtual-clock.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const NAME = { commonName: 'kubenode:agent:n17', organization: 'kubenode:agents' };
const MACHINE = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'n17', uid: 'uid-17' },
  spec: { components: [] },
};

function renewal(
  change: Partial<CertificateRequestObject['spec']> = {},
  ageSeconds = 60,
): CertificateRequestObject {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {
      name: 'r1',
      resourceVersion: '7',
      creationTimestamp: new Date(NOW.getTime() - ageSeconds * 1000).toISOString(),
      annotations: { 'kubenode.dev/machine-uid': 'uid-17' },
    },
    spec: {
      request: Buffer.from(createCertificateRequest(NAME, privateKey)).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth', 'digital signature'],
      expirationSeconds: 3600,
      username: 'kubenode:agent:n17',
      groups: ['kubenode:agents'],
      ...change,
    },
  };
}

/** The first certificate of the agent, with the token of its Machine. */
function joining(): { request: CertificateRequestObject; machines: readonly KubeObject[] } {
  const record = formatTokenRecord({
    id: 'abc123',
    secretUid: 'secret-1',
    expiresAt: new Date(NOW.getTime() + 600_000).toISOString(),
    epoch: 0,
    replacesAgent: false,
  });
  const annotations = { 'kubenode.dev/bootstrap-token': record };
  return {
    request: renewal({
      username: 'system:bootstrap:abc123',
      groups: ['system:bootstrappers:kubenode', 'system:bootstrappers:kubenode:uid-17'],
    }),
    machines: [{ ...MACHINE, metadata: { ...MACHINE.metadata, annotations } }],
  };
}

/** Approved requests of other machines, which tell how often one of them was read to be parsed. */
function othersApproved(count: number): { requests: CertificateRequestObject[]; reads: () => number } {
  let reads = 0;
  const requests = Array.from({ length: count }, (_, index): CertificateRequestObject => {
    const name = { ...NAME, commonName: `kubenode:agent:other-${index}` };
    const text = Buffer.from(createCertificateRequest(name, privateKey)).toString('base64');
    const { metadata, spec, ...object } = renewal({ username: `system:bootstrap:other${index}` });
    return {
      ...object,
      metadata: { ...metadata, name: `other-${index}` },
      spec: {
        ...spec,
        get request() {
          reads += 1;
          return text;
        },
      },
      status: { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: NOW.toISOString() }] },
    };
  });
  return { requests, reads: () => reads };
}

interface Input {
  readonly request?: CertificateRequestObject;
  readonly others?: readonly CertificateRequestObject[];
  readonly machines?: readonly KubeObject[];
  readonly leads?: boolean;
  readonly error?: Error;
}

async function reconcile(input: Input) {
  const { request = renewal(), others = [], machines = [MACHINE], leads = true, error } = input;
  const written: { object: KubeObject; subresource: string | undefined }[] = [];
  const counted: unknown[] = [];
  const controller = createApproverController({
    leads: () => leads,
    decisions: { add: (labels) => void counted.push(labels) },
    client: {
      async replace<T>(
        _resource: unknown,
        object: KubeObject,
        options: { subresource?: string; beforeSend?: () => void } = {},
      ) {
        options.beforeSend?.();
        if (error !== undefined) throw error;
        written.push({ object, subresource: options.subresource });
        return object as T;
      },
    },
  });
  const { context, events } = fakeContext({
    objects: { CertificateSigningRequest: [request, ...others], Machine: machines },
  });
  const result = await controller.reconcile('r1', context);
  return { result, written, events, counted };
}

describe('the approver', () => {
  it('approves by the subresource, with the version that it judged', async () => {
    const { written, events, counted } = await reconcile({});
    expect(written).toHaveLength(1);
    expect(written[0]?.subresource).toBe('approval');
    expect(written[0]?.object).toMatchObject({
      metadata: { resourceVersion: '7' },
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'KubenodeApproved' }] },
    });
    expect(events).toEqual(['r1: Normal CertificateApproved: renewal by the agent of Machine n17']);
    expect(counted).toEqual([{ result: 'Approved', reason: 'KubenodeApproved' }]);
  });

  it('denies with a reason, an Event and a metric', async () => {
    const { written, events, counted } = await reconcile({ request: renewal({ expirationSeconds: 1 }) });
    expect(written[0]?.object).toMatchObject({
      status: { conditions: [{ type: 'Denied', reason: 'WrongLifetime' }] },
    });
    expect(events).toEqual([
      'r1: Warning CertificateDenied: WrongLifetime: expected expirationSeconds from 600 to 604800, got 1',
    ]);
    expect(counted).toEqual([{ result: 'Denied', reason: 'WrongLifetime' }]);
  });

  it('writes nothing while it waits, and comes back', async () => {
    const { result, written } = await reconcile({ request: renewal({}, 1), machines: [] });
    expect(written).toEqual([]);
    expect(result.requeueAt).toEqual(new Date(NOW.getTime() + 1000));
  });

  it.each([
    [30, 3],
    [400, 15],
  ])(
    'judges less often a request that waits for long: after %i s, in %i s',
    async (ageSeconds, inSeconds) => {
      const request = renewal({ username: 'system:node:n17', groups: ['system:nodes'] }, ageSeconds);
      const { result, written } = await reconcile({ request, machines: [] });
      expect([written, result.requeueAt]).toEqual([[], new Date(NOW.getTime() + inSeconds * 1000)]);
    },
  );

  it('writes nothing for names of others', async () => {
    const { result, written } = await reconcile({ request: renewal({ signerName: 'example.com/signer' }) });
    expect([result, written]).toEqual([{}, []]);
  });

  it('writes nothing without the Lease', async () => {
    await expect(reconcile({ leads: false })).rejects.toThrow('the Lease is not held');
  });

  it('leaves a request that changed meanwhile to the next reconcile', async () => {
    const { result, events, counted } = await reconcile({ error: new KubeError('Conflict', 'changed') });
    expect([result, events, counted]).toEqual([{}, [], []]);
  });

  it('tries again after any other error', async () => {
    await expect(reconcile({ error: new KubeError('Unreachable', 'away') })).rejects.toThrow('away');
  });

  it('MAC-30 parses no request of another machine again for a machine that joins', async () => {
    const { requests, reads } = othersApproved(100);
    const { request, machines } = joining();
    const { counted } = await reconcile({ request, machines, others: requests });
    expect(counted).toEqual([{ result: 'Approved', reason: 'KubenodeApproved' }]);
    // Once each, for the index of the view.
    expect(reads()).toBe(100);
  });

  it.each([
    ['the token was used for another key', {}, 'TokenUsed'],
    ['another token got the first certificate', { username: 'system:bootstrap:older1' }, 'AlreadyRegistered'],
  ])('finds by its indexes that %s', async (_, before, reason) => {
    const { request, machines } = joining();
    const { privateKey: otherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const text = Buffer.from(createCertificateRequest(NAME, otherKey)).toString('base64');
    const other = {
      ...request,
      metadata: { ...request.metadata, name: 'r0' },
      spec: { ...request.spec, request: text, ...before },
      status: { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: NOW.toISOString() }] },
    };
    const { counted } = await reconcile({ request, machines, others: [other] });
    expect(counted).toEqual([{ result: 'Denied', reason }]);
    const pending = await reconcile({ request, machines, others: [{ ...other, status: {} }] });
    expect(pending.counted).toEqual([{ result: 'Approved', reason: 'KubenodeApproved' }]);
  });
});
