/** The option for the receivers of what repair jobs hand to people. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Notifications } from '../../../controllers/notifier/controller.ts';
import { parseNotifications } from '../../../controllers/notifier/receivers/config.ts';
import { createReceivers } from '../../../controllers/notifier/receivers/receivers.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf, OsError } from '../../../os/errors.ts';
import { exchange } from '../../../os/net/exchange.ts';

export interface NotificationFlags {
  readonly notifications?: string;
}

export function addNotificationOptions(command: Command): Command {
  return command.option(
    '--notifications <file>',
    'file with the receivers of what repair jobs hand to people, YAML; read at the start',
    parsePath,
  );
}

function parsePath(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a path.');
  return resolve(text);
}

export interface NotificationParts {
  readonly clock: Clock;
  readonly random: () => number;
}

/** Undefined without the flag. Rejects with everything that is wrong with the file. */
export async function openNotifications(
  { notifications: path }: NotificationFlags,
  parts: NotificationParts,
): Promise<Notifications | undefined> {
  if (path === undefined) return undefined;
  const config = parseNotifications(await readConfig(path), path);
  return {
    selections: config.receivers,
    receivers: createReceivers({ ...parts, config, exchange, readFile: readText }),
  };
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

async function readConfig(path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new OsError('BadInput', `notifications: the file cannot be read: ${messageOf(error)}`, {
      where: path,
      cause: error,
    });
  }
}
