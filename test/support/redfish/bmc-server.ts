/** A BMC with sessions, and with the faults that the emulator of sushy-tools cannot have: it is slow, answers wrongly, or has no session left. */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text as readBody } from 'node:stream/consumers';
import type { BmcEndpoint } from '../../../src/providers/redfish/connection.ts';
import { bmcCertificate } from './certificate.ts';

export const BMC_UUID = '27946b59-9e44-4fa7-8e91-f3527a1ef094';
export const BMC_PASSWORD = 'secret-of-bmc';

export interface BmcBehavior {
  power?: unknown;
  uuid?: string;
  /** Paths that are never answered. */
  silent?: string;
  maxSessions?: number;
  reset?: object;
  /** Whether a reset changes the power. Otherwise the BMC accepts it, and nothing changes. */
  applies?: boolean;
  /** Status of the answer to a reset. */
  resetStatus?: number;
  location?: string;
  /** What the system boots from, as the BMC returns it. */
  boot?: Readonly<Record<string, unknown>>;
  /** Whether the BMC takes Once for Continuous. */
  bootsContinuously?: boolean;
  systems?: readonly string[];
}

export interface TestBmc extends AsyncDisposable {
  readonly endpoint: BmcEndpoint;
  /** `GET /redfish/v1/Systems` in order. */
  readonly requests: string[];
  /** Everything that arrived, decrypted. */
  readonly received: () => string;
  readonly resets: unknown[];
  readonly openSessions: () => number;
  readonly behavior: BmcBehavior;
}

const SYSTEM = '/redfish/v1/Systems/1';
const SESSIONS = '/redfish/v1/SessionService/Sessions';

export async function startBmc(behavior: BmcBehavior = {}): Promise<TestBmc> {
  const { certPem, keyPem, fingerprint } = bmcCertificate();
  const sessions = new Map<string, string>();
  const requests: string[] = [];
  const resets: unknown[] = [];
  let received = '';
  const system = (): object => ({
    UUID: behavior.uuid ?? BMC_UUID,
    PowerState: 'power' in behavior ? behavior.power : 'On',
    ...(behavior.boot ? { Boot: behavior.boot } : {}),
    Actions: {
      '#ComputerSystem.Reset': behavior.reset ?? {
        target: `${SYSTEM}/Actions/ComputerSystem.Reset`,
        'ResetType@Redfish.AllowableValues': ['On', 'ForceOff'],
      },
    },
  });

  function signIn({ UserName, Password }: Record<string, unknown>, response: ServerResponse): void {
    if (UserName !== 'admin' || Password !== BMC_PASSWORD) return answer(response, 401, {});
    if (sessions.size >= (behavior.maxSessions ?? 4)) {
      const id = 'Base.1.8.SessionLimitExceeded';
      return answer(response, 503, { error: { '@Message.ExtendedInfo': [{ MessageId: id }] } });
    }
    const [token, path] = [`token-${requests.length}`, `${SESSIONS}/${requests.length}`];
    sessions.set(token, path);
    response.setHeader('x-auth-token', token);
    response.setHeader('location', behavior.location ?? path);
    answer(response, 201, {});
  }

  function reset(body: unknown, response: ServerResponse): void {
    resets.push(body);
    if (behavior.applies) behavior.power = JSON.stringify(body).includes('Off') ? 'Off' : 'On';
    answer(response, behavior.resetStatus ?? 204, {});
  }

  function changeBoot(body: unknown, response: ServerResponse): void {
    const { Boot } = body as { readonly Boot: Readonly<Record<string, unknown>> };
    const isOnce = Boot['BootSourceOverrideEnabled'] === 'Once';
    const mode = isOnce && behavior.bootsContinuously ? { BootSourceOverrideEnabled: 'Continuous' } : {};
    behavior.boot = { ...behavior.boot, ...Boot, ...mode };
    answer(response, 204, {});
  }

  function signedIn(token: string, key: string, body: unknown, response: ServerResponse): void {
    const members = (behavior.systems ?? [SYSTEM]).map((id) => ({ '@odata.id': id }));
    const documents: Record<string, object> = {
      'GET /redfish/v1/Systems': { Members: members },
      [`GET ${SYSTEM}`]: system(),
      'GET /redfish/v1/ResetActionInfo': {
        Parameters: [{ Name: 'ResetType', AllowableValues: ['ForceOn', 'ForceOff'] }],
      },
    };
    if (key === `POST ${SYSTEM}/Actions/ComputerSystem.Reset`) return reset(body, response);
    if (key === `PATCH ${SYSTEM}`) return changeBoot(body, response);
    if (key === `DELETE ${sessions.get(token)}`) sessions.delete(token);
    else if (!documents[key]) return answer(response, 404, {});
    answer(response, 200, documents[key] ?? {});
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = `${request.method} ${request.url}`;
    requests.push(key);
    const text = await readBody(request);
    received += `${key} ${JSON.stringify(request.headers)} ${text}\n`;
    if (behavior.silent !== undefined && key.includes(behavior.silent)) return;
    const body: unknown = text === '' ? {} : JSON.parse(text);
    const token = String(request.headers['x-auth-token']);
    if (key === 'GET /redfish/v1/') {
      answer(response, 200, { Links: { Sessions: { '@odata.id': SESSIONS } } });
    } else if (key === `POST ${SESSIONS}`) signIn(body as Record<string, unknown>, response);
    else if (sessions.has(token)) signedIn(token, key, body, response);
    else answer(response, 401, {});
  }

  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: { host: '127.0.0.1', port, fingerprint, timeoutMs: 10_000 },
    requests,
    received: () => received,
    resets,
    openSessions: () => sessions.size,
    behavior,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(status === 204 ? undefined : JSON.stringify(body));
}
