/** Serves AssumeRoleWithOIDC and the metadata of an instance as they are documented. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface TokenServer {
  readonly url: string;
  /** The token of the cluster that is accepted. */
  oidcToken: string;
  /** The RAM role of the instance; empty: it has none. */
  role: string;
  /** The status of all answers, if it is not that of a success. */
  status: number | undefined;
  readonly requests: string[];
}

/** As the token service prints them, with other values. */
const CREDENTIALS = {
  SecurityToken: 'CAIShwJ1q6Ft',
  Expiration: '2030-10-20T04:27:09Z',
  AccessKeySecret: 'CVwjCkNzTMupZ8NbTCxCBRq3K16jtcWFTJAyBEv2',
  AccessKeyId: 'STS.NUgYrLnoC37mZZCNnAbez',
};
const ROLE_FOLDER = '/latest/meta-data/ram/security-credentials/';

export async function startTokenServer(): Promise<TokenServer> {
  const state = {
    url: '',
    oidcToken: 'eyJraWQi',
    role: 'node-role',
    status: undefined,
    requests: [],
  } as TokenServer;
  const server = createServer((request, response) => {
    state.requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    void answer(request, state).then(({ status, body }) =>
      response.writeHead(state.status ?? status).end(body),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

interface Answered {
  readonly status: number;
  readonly body: string;
}

async function answer(request: IncomingMessage, state: TokenServer): Promise<Answered> {
  const { searchParams } = new URL(request.url ?? '', 'http://x');
  if (searchParams.get('Action') === 'AssumeRoleWithOIDC') return assumeRole(await text(request), state);
  return answerMetadata(request, state);
}

const NOT_FOUND = { status: 404, body: '<html>404</html>' };

function answerMetadata({ method, url, headers }: IncomingMessage, { role }: TokenServer): Answered {
  const ttl = headers['x-aliyun-ecs-metadata-token-ttl-seconds'];
  if (method === 'PUT' && url === '/latest/api/token' && ttl) return { status: 200, body: 'metadata-token' };
  // Its safer mode accepts no request without a token.
  if (headers['x-aliyun-ecs-metadata-token'] !== 'metadata-token') return { status: 403, body: 'Forbidden' };
  if (role === '') return NOT_FOUND;
  if (url === ROLE_FOLDER) return { status: 200, body: role };
  if (url !== `${ROLE_FOLDER}${role}`) return NOT_FOUND;
  const body = { ...CREDENTIALS, LastUpdated: '2030-10-19T22:27:09Z', Code: 'Success' };
  return { status: 200, body: JSON.stringify(body) };
}

function assumeRole(body: string, { oidcToken }: TokenServer): Answered {
  const form = new URLSearchParams(body);
  const RequestId = '3D57EAD2-8723-1F26-B69C-F8707D8B565D';
  if (form.get('OIDCToken') !== oidcToken) {
    const refused = {
      RequestId,
      Code: 'AuthenticationFail.NoPermission',
      Message: 'This operation is forbidden.',
    };
    return { status: 403, body: JSON.stringify(refused) };
  }
  const AssumedRoleUser = { AssumedRoleId: '33157794895460****', Arn: form.get('RoleArn') };
  return { status: 200, body: JSON.stringify({ RequestId, AssumedRoleUser, Credentials: CREDENTIALS }) };
}
