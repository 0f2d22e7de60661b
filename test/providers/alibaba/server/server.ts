/** Serves ECS over HTTP, with a signature on each request and faults between it and its client. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { ContractFault } from '../../contract/harness.ts';
import { createEcs, type Ecs } from './ecs.ts';
import { EcsRefusal, REFUSALS } from './refusal.ts';
import { type AcceptedKey, createSignatureCheck } from './signature.ts';

export interface EcsServer extends AsyncDisposable {
  readonly url: string;
  readonly ecs: Ecs;
  readonly keys: Map<string, AcceptedKey>;
  /** The actions of all requests in order, and the headers and URLs that a log of them would have. */
  readonly actions: string[];
  /** The actions for which the credentials have expired. */
  readonly expired: Set<string>;
  /** The fault happens to the next request of one of these actions to which it can happen. */
  inject(fault: ContractFault, actions: readonly string[]): void;
  /** What happens to each request: the server fails before anything happens, or the answer is lost after it. */
  draw: (() => 'Fail' | 'LoseAnswer' | undefined) | undefined;
}

interface PendingFault {
  readonly fault: ContractFault;
  readonly actions: readonly string[];
}

interface TakenFault {
  readonly fault: ContractFault;
  readonly body: object;
}

/** Where user data of many kilobytes is in the query, as ECS accepts it. */
const MAX_HEADER_BYTES = 256 * 1024;

export async function startEcsServer(): Promise<EcsServer> {
  const clock = createSystemClock();
  const ecs = createEcs(clock);
  const keys = new Map<string, AcceptedKey>([['LTAI5test', { secret: 'test-secret' }]]);
  const check = createSignatureCheck(keys, clock);
  const pending: PendingFault[] = [];
  const actions: string[] = [];
  const expired = new Set<string>();

  function takeFault(action: string, body: object | undefined): TakenFault | undefined {
    const index = pending.findIndex((each) => each.actions.includes(action));
    const fault = pending[index]?.fault;
    if (fault === undefined || (body === undefined) !== (fault === 'Throttled')) return undefined;
    const changed = body && withFault(fault, body);
    if (body && !changed) return undefined;
    pending.splice(index, 1);
    return { fault, body: changed ?? {} };
  }

  function carryOut(request: IncomingMessage, action: string): Sent {
    check(request);
    if (expired.has(action)) throw REFUSALS.expired();
    if (takeFault(action, undefined)) throw REFUSALS.throttled();
    const body = ecs.call(action, Object.fromEntries(new URL(request.url ?? '', 'http://ecs').searchParams));
    const taken = takeFault(action, body);
    return { status: 200, body: JSON.stringify(taken?.body ?? body), fault: taken?.fault };
  }

  function carryOutDrawn(request: IncomingMessage, action: string): Sent {
    const drawn = served.draw?.();
    if (drawn === 'Fail') throw REFUSALS.unavailable();
    const sent = carryOut(request, action);
    return drawn === 'LoseAnswer' ? { ...sent, fault: 'AnswerLost' } : sent;
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const action = String(request.headers['x-acs-action']);
    actions.push(action);
    try {
      send(response, carryOutDrawn(request, action));
    } catch (error) {
      if (!(error instanceof EcsRefusal)) throw error;
      send(response, refusal(error));
    }
  }

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const served: EcsServer = {
    url: `http://127.0.0.1:${port}`,
    ecs,
    keys,
    actions,
    expired,
    inject: (fault, on) => pending.push({ fault, actions: on }),
    draw: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  return served;
}

interface Sent {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fault?: ContractFault | undefined;
}

function refusal({ status, code, message, retryAfter }: EcsRefusal): Sent {
  const body = {
    RequestId: '06DD587E-599A-55C6-83BB-EC5DFF0000F2',
    HostId: 'ecs',
    Code: code,
    Message: message,
  };
  return {
    status,
    body: JSON.stringify(body),
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  };
}

function send(response: ServerResponse, { status, body, headers = {}, fault }: Sent): void {
  if (fault === 'TimeOutAfterSuccess') return;
  if (fault === 'AnswerLost') {
    response.destroy();
    return;
  }
  if (fault === 'HalfPage') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json;charset=utf-8', ...headers });
  response.end(body);
}

/** Returns the answer with the fault in it; undefined: it cannot happen to this answer. */
function withFault(fault: ContractFault, body: object): object | undefined {
  const list = instancesOf(body);
  if (fault === 'StaleList') return list.length === 0 ? undefined : withInstances(body, list.slice(0, -1));
  if (fault === 'WrongOrder') return list.length < 2 ? undefined : withInstances(body, list.toReversed());
  if (fault === 'HalfPage') return list.length === 0 ? undefined : body;
  return body;
}

function instancesOf(body: object): readonly unknown[] {
  return 'Instances' in body ? (body.Instances as { readonly Instance: readonly unknown[] }).Instance : [];
}

function withInstances(body: object, list: readonly unknown[]): object {
  return { ...body, Instances: { Instance: list } };
}
