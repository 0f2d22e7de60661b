/** The certificate requests of an API server, with an approver and a signer that answer at once. */
import type { CertificateRequestObject } from '../../../src/kube/auth/certificate-requests.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { CertificatePair } from '../../../src/local/pki/certificate.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { signRequest } from '../test-signer.ts';

export interface FakeRequests {
  readonly client: Pick<Client, 'get' | 'create'>;
  /** Every request that was ever created. */
  readonly created: CertificateRequestObject[];
  /** How the next requests are answered. */
  answer: 'Issue' | 'Deny' | 'Wait' | 'IssueAnother';
  /** The server does not accept the credentials. */
  refused: boolean;
  /** The authority that signs. Undefined: none that anybody knows. */
  authority?: CertificatePair;
  /** What Kubernetes does after an hour. */
  removeAll(): void;
}

export function fakeRequests(clock: Clock): FakeRequests {
  let stored = new Map<string, CertificateRequestObject>();
  const requests: FakeRequests = {
    created: [],
    answer: 'Issue',
    refused: false,
    removeAll: () => (stored = new Map()),
    client: {
      async get<T>(_resource: unknown, { name }: { name: string }) {
        if (requests.refused) throw new KubeError('Unauthorized', 'Unauthorized');
        const found = stored.get(name);
        if (!found) throw new KubeError('NotFound', name);
        return answered(found) as T;
      },
      async create<T>(_resource: unknown, object: KubeObject) {
        const request = object as CertificateRequestObject;
        if (stored.has(request.metadata.name)) throw new KubeError('AlreadyExists', request.metadata.name);
        stored.set(request.metadata.name, request);
        requests.created.push(request);
        return request as T;
      },
    },
  };
  return requests;

  function answered(request: CertificateRequestObject): CertificateRequestObject {
    if (requests.answer === 'Wait') return request;
    if (requests.answer === 'Deny') {
      const denial = { type: 'Denied', status: 'True', reason: 'WrongUid', message: 'another Machine' };
      return { ...request, status: { conditions: [denial] } };
    }
    const { spec } = requests.answer === 'IssueAnother' ? (requests.created[0] ?? request) : request;
    const end = new Date(clock.now().getTime() + (spec.expirationSeconds ?? 0) * 1000);
    const pem = signRequest(
      Buffer.from(spec.request, 'base64').toString(),
      clock.now(),
      end,
      requests.authority,
    );
    const approved = { type: 'Approved', status: 'True', reason: 'KubenodeApproved', message: '' };
    return {
      ...request,
      status: { conditions: [approved], certificate: Buffer.from(pem).toString('base64') },
    };
  }
}
