/** The HTTP API over a ledger in memory, with an API server that reviews tokens as the test decides. */
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import type { DefenderLedger, LedgerPendingApproval } from '../../../src/api/generated/types.ts';
import { openApiDocument } from '../../../src/api/http/openapi.ts';
import { ANSWERS } from '../../../src/api/http/schemas.ts';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import { createHttpApi, type HttpApiOptions, type HttpLimits } from '../../../src/defender/http/api.ts';
import type { ApiAnswer } from '../../../src/defender/http/problem.ts';
import type { Ledger } from '../../../src/defender/ledger/ledger.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { memoryLog } from '../../support/memory-log.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { fleetFacts, machines } from '../builders.ts';
import { ledgerBed, POLICIES, type ReplicaOptions } from '../ledger/bed.ts';

export interface HttpBedOptions extends ReplicaOptions {
  readonly policies?: typeof POLICIES;
  readonly limits?: HttpLimits;
  readonly pending?: readonly LedgerPendingApproval[];
  /** Beside the machines m-1 to m-10. */
  readonly others?: readonly MachineFacts[];
}

export interface HttpBed {
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly spec: () => DefenderLedger['spec'];
  /** Names of the reviews that the API server was asked for. */
  readonly reviews: readonly string[];
  /** What the API server and the election answer from now on. */
  readonly server: {
    down: '' | 'TokenReview' | 'SubjectAccessReview';
    leads: boolean;
    revoked: readonly string[];
    forbidden: readonly string[];
  };
  /** With the token of that person, whose groups follow after commas: `bob,sre`. */
  readonly post: (path: string, person: string, body: unknown) => Promise<ApiAnswer>;
  readonly handle: ReturnType<typeof createHttpApi>['handle'];
}

export async function httpBed({
  policies = POLICIES,
  pending = [],
  others = [],
  limits,
  ...more
}: HttpBedOptions = {}): Promise<HttpBed> {
  const bed = await ledgerBed(policies);
  const { ledger } = await bed.replica(more);
  const server: HttpBed['server'] = { down: '', leads: true, revoked: [], forbidden: [] };
  const reviews: string[] = [];
  const facts = fleetFacts([...machines(10), ...others], policies);
  const client = {
    create: (resource: { readonly kind: string }, object: object) => {
      const { kind } = resource;
      reviews.push(kind);
      if (server.down === kind) return Promise.reject(new KubeError('Unreachable', 'no answer'));
      return Promise.resolve({ status: kind === 'TokenReview' ? tokenStatus(object) : accessStatus(object) });
    },
  } as HttpApiOptions['client'];
  const api = createHttpApi({
    client,
    audiences: ['kubenode-defender'],
    clock: bed.clock,
    log: memoryLog(),
    leads: () => server.leads,
    leader: () => 'replica-2',
    defender: {
      ledger,
      observer: { facts: () => facts, policies: () => preparePolicies(policies) },
      observed: { ledgers: { store: { get: () => ({ spec: bed.spec() }) as DefenderLedger } as never } },
      pending: { list: () => pending },
    },
    ...(limits ? { limits } : {}),
  });
  return { ...bed, ledger, server, reviews, post, handle };

  /** `Bearer alice` is alice. `other:alice` was issued for another audience. */
  function tokenStatus(object: object): object {
    const token = textAt(object, 'spec', 'token') ?? '';
    const [name = '', ...groups] = decodeURIComponent(token.replaceAll('~', '%')).split(',');
    const isOther = name.startsWith('other:');
    if (name === 'unknown' || server.revoked.includes(name)) return { authenticated: false };
    return {
      authenticated: true,
      audiences: isOther ? [] : listAt(object, 'spec', 'audiences'),
      user: { username: name, groups },
    };
  }

  function accessStatus(object: object): object {
    const resource = textAt(object, 'spec', 'resourceAttributes', 'subresource') ?? '';
    return { allowed: !server.forbidden.includes(`${textAt(object, 'spec', 'user')} ${resource}`) };
  }

  async function post(path: string, person: string, body: unknown): Promise<ApiAnswer> {
    return await handle({
      method: 'POST',
      path,
      authorization: `Bearer ${encodeURIComponent(person).replaceAll('%', '~')}`,
      address: '10.0.0.1',
      readBody: () => Promise.resolve(typeof body === 'string' ? body : JSON.stringify(body)),
    });
  }

  /** Each answer is as OpenAPI describes it. */
  async function handle(request: Parameters<HttpBed['handle']>[0]): Promise<ApiAnswer> {
    const answer = await api.handle(request);
    expectDescribed(request.path, answer);
    return answer;
  }
}

const ajv = new Ajv({ strict: false }).addSchema({
  $id: 'openapi',
  components: { schemas: ANSWERS },
});
const described = openApiDocument() as {
  readonly paths: Record<string, { readonly post: { readonly responses: Record<string, Described> } }>;
};
interface Described {
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

function expectDescribed(path: string, { status, body }: ApiAnswer): void {
  const response = described.paths[path]?.post.responses[status];
  if (status === 500) throw new Error(`internal error: ${JSON.stringify(body)}`);
  if (!response) {
    expect([404, 405, 200]).toContain(status);
    return;
  }
  const text = JSON.stringify(response.content['application/json'].schema).replaceAll('"#/', '"openapi#/');
  const validate = ajv.compile(JSON.parse(text) as object);
  const sent = JSON.parse(JSON.stringify(body)) as unknown;
  expect([validate(sent), validate.errors, sent]).toEqual([true, null, sent]);
}
