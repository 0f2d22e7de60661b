/**
 * A probe by the health service of gRPC (`grpc.health.v1`), which the kubelet probes, too. A socket still accepts connections while its
 * process hangs; this one wants an answer.
 */
import { type IncomingHttpHeaders, connect as openSession } from 'node:http2';
import { connect, type NetConnectOpts } from 'node:net';
import type { ProbeAnswer } from './port.ts';
import { failedProbe } from './probe-error.ts';

const METHOD = '/grpc.health.v1.Health/Check';
const MAX_ANSWER_BYTES = 4096;
const SERVING = 1;
/** A byte for the compression, and four for the length of the message. */
const PREFIX_BYTES = 5;
const STATUS = { Ok: '0', NotFound: '5', Unimplemented: '12' } as const;

export async function probeGrpc(
  service: string,
  target: NetConnectOpts,
  timeoutMs: number,
): Promise<ProbeAnswer> {
  const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
  const signal = AbortSignal.timeout(timeoutMs);
  const fail = (error: Error): void => resolve(failedProbe(error, signal));
  // Its error is the cause of those of the session and the stream.
  const socket = connect(target).on('error', fail);
  const session = openSession('http://localhost', { createConnection: () => socket });
  session.on('error', fail);
  signal.addEventListener('abort', () => fail(new Error('timeout')), { once: true });
  const stream = session.request({
    ':method': 'POST',
    ':path': METHOD,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const pieces: Buffer[] = [];
  let [bytes, status] = [0, ''];
  const readStatus = ({ 'grpc-status': found = status }: IncomingHttpHeaders): void => {
    status = String(found);
  };
  // An answer without a message has its status in the headers.
  stream.on('response', readStatus);
  stream.on('trailers', readStatus);
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= MAX_ANSWER_BYTES) pieces.push(piece);
  });
  stream.on('error', fail);
  stream.on('close', () => resolve(judgeServing(status, Buffer.concat(pieces), service)));
  stream.end(requestFor(service));
  try {
    return await promise;
  } finally {
    session.destroy();
  }
}

/** HealthCheckRequest: field 1 is the name of the service. */
function requestFor(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export function judgeServing(status: string, answer: Buffer, service: string): ProbeAnswer {
  const named = service === '' ? 'the server' : `service ${service}`;
  if (status === STATUS.Ok) {
    const passed = isServing(answer);
    return { passed, detail: `${named} is ${passed ? 'serving' : 'not serving'}` };
  }
  if (status === STATUS.NotFound) return { passed: false, detail: `${named} is not known` };
  if (status === STATUS.Unimplemented) {
    return { passed: false, detail: 'the server has no health service (grpc.health.v1)' };
  }
  return { passed: false, detail: status === '' ? 'no gRPC answer' : `gRPC status ${status}` };
}

/** HealthCheckResponse: field 1 is the status. One that is absent is 0, unknown. */
function isServing(answer: Buffer): boolean {
  const [tag, health] = answer.subarray(PREFIX_BYTES);
  return tag === 0x08 && health === SERVING;
}
