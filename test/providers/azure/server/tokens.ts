/** Serves tokens as Microsoft Entra and the metadata service of virtual machines document them. */
import type { CloudAnswer, CloudRequest } from '../../cloud/cloud-proxy.ts';
import { jsonAnswer, REFUSALS } from './refusal.ts';

export const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47';
export const CLIENT = '6731de76-14a6-49ae-97bc-6eba6914391e';
export const CLIENT_SECRET = 'qWgdYAmab0YSkuL1qKv5bPX';
export const CLUSTER_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.sig';

export interface TokenService {
  /** The answer to a request for a token; undefined: it is not one. */
  answer(request: CloudRequest): CloudAnswer | undefined;
  /** Throws unless the request has a token that was given out and is still valid. */
  check(request: CloudRequest): void;
  /** Ends the tokens that were given out. */
  expire(): void;
  /** The identities of the machine: none, or clients. */
  identities: readonly string[];
  /** The token of the cluster that is accepted. */
  clusterToken: string;
  /** The status of all answers, if it is not that of a success. */
  status: number | undefined;
  readonly issued: readonly string[];
}

export function createTokenService(audience: () => string): TokenService {
  const issued: string[] = [];
  let validFrom = 0;

  function issue(): string {
    issued.push(`eyJ0eXAiOiJKV1Qi.${issued.length}.c2lnbmVk`);
    return issued.at(-1) ?? '';
  }

  function ofService({ path, body }: CloudRequest): CloudAnswer {
    const form = new URLSearchParams(body);
    const expected = { grant_type: 'client_credentials', scope: `${audience()}/.default`, client_id: CLIENT };
    const isRequest = path === `/${TENANT}/oauth2/v2.0/token` && hasFields(form, expected);
    if (!isRequest) return refused('unauthorized_client', 700016);
    const proof = form.has('client_assertion')
      ? { client_assertion_type: JWT_BEARER, client_assertion: service.clusterToken }
      : { client_secret: CLIENT_SECRET };
    const refusedBy = 'client_secret' in proof ? 7000215 : 700211;
    if (!hasFields(form, proof)) return refused('invalid_client', refusedBy);
    const seconds = { expires_in: 3599, ext_expires_in: 3599 };
    return jsonAnswer(200, { token_type: 'Bearer', ...seconds, access_token: issue() });
  }

  function ofMachine({ path, headers }: CloudRequest): CloudAnswer {
    const { searchParams } = new URL(path, 'http://metadata');
    const isRequest =
      headers['metadata'] === 'true' &&
      searchParams.get('api-version') === '2018-02-01' &&
      searchParams.get('resource') === `${audience()}/`;
    const client = searchParams.get('client_id') ?? service.identities[0];
    if (!isRequest || client === undefined || !service.identities.includes(client)) {
      return jsonAnswer(400, { error: 'invalid_request', error_description: 'Identity not found' });
    }
    const resource = searchParams.get('resource');
    return jsonAnswer(200, {
      access_token: issue(),
      client_id: client,
      expires_in: '86399',
      expires_on: '1893456000',
      resource,
      token_type: 'Bearer',
    });
  }

  const service: TokenService = {
    identities: [CLIENT],
    clusterToken: CLUSTER_TOKEN,
    status: undefined,
    issued,
    answer(request) {
      const isService = request.method === 'POST' && request.path.endsWith('/oauth2/v2.0/token');
      const isMachine =
        request.method === 'GET' && request.path.startsWith('/metadata/identity/oauth2/token');
      if (!isService && !isMachine) return undefined;
      if (service.status !== undefined) return jsonAnswer(service.status, {});
      return isService ? ofService(request) : ofMachine(request);
    },
    check({ headers }) {
      const index = issued.indexOf((headers['authorization'] ?? '').replace('Bearer ', ''));
      if (index === -1) throw REFUSALS.badToken();
      if (index < validFrom) throw REFUSALS.expiredToken();
    },
    expire() {
      validFrom = issued.length;
    },
  };
  return service;
}

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

function hasFields(form: URLSearchParams, fields: Readonly<Record<string, string>>): boolean {
  return Object.entries(fields).every(([name, value]) => form.get(name) === value);
}

/** The service names the client, and quotes its secret in no case. */
function refused(error: string, code: number): CloudAnswer {
  const error_description = `AADSTS${code}: The request for application '${CLIENT}' was refused. Trace ID: 1`;
  return jsonAnswer(401, { error, error_description, error_codes: [code] });
}
