/** Sends notices to the receivers of the configuration: each has a sender of its own, so that one that does not answer delays no other. */
import {
  createSender,
  type SenderPorts,
  type SenderRequest,
  type SendOutcome,
} from '../../../os/net/sender.ts';
import type { Delivery } from '../plan.ts';
import type { NotificationConfig, ReceiverConfig } from './config.ts';
import { type ReceiverSecrets, requestFor } from './shapes.ts';

export interface ReceiverParts extends SenderPorts {
  readonly config: NotificationConfig;
  /** Read at each delivery, because people replace keys. */
  readonly readFile: (path: string) => Promise<string>;
}

export interface Receivers {
  /** Rejects only when it is aborted. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendOutcome>;
}

/** The answers that say that this notice is the problem, and not the receiver or its key. */
const OF_THE_NOTICE: readonly number[] = [400, 409, 413, 422];

function isRefusal(status: number): boolean {
  return OF_THE_NOTICE.includes(status);
}

export function createReceivers(parts: ReceiverParts): Receivers {
  const { config } = parts;
  const byName = new Map(
    config.receivers.map((receiver) => {
      return [receiver.name, { receiver, sender: createSender({ ...parts, isRefusal }) }] as const;
    }),
  );
  return { send };

  async function send(delivery: Delivery, signal: AbortSignal): Promise<SendOutcome> {
    const found = byName.get(delivery.receiver);
    if (!found) throw new Error(`no receiver is named ${delivery.receiver}`);
    return await found.sender.send(() => prepare(found.receiver, delivery), signal);
  }

  async function prepare(receiver: ReceiverConfig, { notice }: Delivery): Promise<SenderRequest> {
    const { url, ...secrets } = await accessOf(receiver);
    return { url, ...requestFor(receiver.type, { notice, cluster: config.cluster }, secrets) };
  }

  async function accessOf({ url, urlFile, keyFile, tokenFile }: ReceiverConfig): Promise<Access> {
    const secretFile = keyFile ?? tokenFile;
    const [address, secret] = await Promise.all([
      url ?? readText(urlFile ?? ''),
      secretFile === undefined ? undefined : readText(secretFile),
    ]);
    return { url: address, secret };
  }

  async function readText(path: string): Promise<string> {
    const text = (await parts.readFile(path)).trim();
    if (text === '') throw new Error(`the file ${path} is empty`);
    return text;
  }
}

interface Access extends ReceiverSecrets {
  readonly url: string;
}
