/** Webhooks as a git host sends them, and as others forge them. */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { createSystemClock } from '../../src/os/system-clock.ts';

export interface HookSender {
  /** Announces a push, signed. Rejects when sync does not accept it. */
  announce(): Promise<void>;
  /** Sends requests at this rate: forged ones, repeats of an announcement, and bodies that are too large, in turn. */
  storm(perSecond: number, seconds: number): Promise<StormAnswers>;
  close(): void;
}

export interface StormAnswers {
  readonly sent: number;
  readonly perSecond: number;
  /** How many were answered, by status. 0: the connection was closed. */
  readonly answers: ReadonlyMap<number, number>;
}

interface Delivery {
  readonly body: string;
  readonly signature: string;
  /** Larger than the body: sync must refuse it by that alone. */
  readonly announcedBytes?: number;
}

const clock = createSystemClock();
/** More than sync accepts. */
const HUGE_BYTES = 64 * 2 ** 20;
const SOCKETS = 16;
/** So many requests are sent together. */
const TICK_MS = 20;

export function createHookSender(url: string, secret: string): HookSender {
  const kept = new Agent({ keepAlive: true, maxSockets: SOCKETS });
  let deliveries = 0;
  let last = signed('{}');

  return { announce, storm, close: () => kept.destroy() };

  function signed(body: string): Delivery {
    return { body, signature: createHmac('sha256', secret).update(body).digest('hex') };
  }

  async function announce(): Promise<void> {
    deliveries += 1;
    last = signed(JSON.stringify({ ref: 'refs/heads/main', delivery: deliveries }));
    const status = await send(last, undefined);
    if (status !== 202) throw new Error(`the webhook was answered with ${status}`);
  }

  async function storm(perSecond: number, seconds: number): Promise<StormAnswers> {
    const answers = new Map<number, number>();
    const pending: Promise<void>[] = [];
    const startMs = clock.monotonicMs();
    const count = perSecond * seconds;
    while (pending.length < count) {
      const due = Math.min(count, ((clock.monotonicMs() - startMs) / 1000) * perSecond);
      while (pending.length < due) pending.push(sendCounted(attack(pending.length), answers));
      await clock.sleep(TICK_MS);
    }
    await Promise.all(pending);
    return { sent: count, perSecond: (count / (clock.monotonicMs() - startMs)) * 1000, answers };
  }

  function attack(index: number): Delivery {
    if (index % 3 === 0) return last;
    const forged = {
      body: `{"ref":"refs/heads/main","n":${index}}`,
      signature: randomBytes(32).toString('hex'),
    };
    return index % 3 === 1 ? forged : { ...forged, announcedBytes: HUGE_BYTES };
  }

  async function sendCounted(delivery: Delivery, answers: Map<number, number>): Promise<void> {
    const status = await send(delivery, kept).catch(() => 0);
    answers.set(status, (answers.get(status) ?? 0) + 1);
  }

  /** A connection that was idle may be closed by the server at the moment of the request: an announcement opens its own. */
  function send({ body, signature, announcedBytes }: Delivery, agent: Agent | undefined): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const headers = {
      'content-type': 'application/json',
      'content-length': announcedBytes ?? Buffer.byteLength(body),
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const asked = request(url, { method: 'POST', agent: agent ?? false, headers });
    asked.on('error', reject);
    asked.on('response', (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      // The rest of a body that was announced is never sent.
      if (announcedBytes !== undefined) asked.destroy();
    });
    if (announcedBytes === undefined) asked.end(body);
    else asked.write(body);
    return promise;
  }
}
