/** The log of the agent: JSON lines without any npm package. Secrets are redacted. */
import { printableText } from '../kube/objects/printable.ts';
import type { Log, LogFields } from '../kube/process/log.ts';
import { redactFields } from '../kube/process/redact-log.ts';
import type { Clock } from '../os/clock.ts';

export interface JsonLogOptions {
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly isDebug?: boolean;
}

export function createJsonLog(options: JsonLogOptions, always: LogFields = {}): Log {
  function print(level: string, message: string, fields: LogFields = {}): void {
    const frame = { level, time: options.clock.now().toISOString(), message };
    // The frame wins: a field must not pretend to be another level or time.
    const line = { ...frame, ...redactFields({ ...always, ...fields }), ...frame };
    options.write(`${printableText(JSON.stringify(line))}\n`);
  }
  return {
    debug(message, fields) {
      if (options.isDebug) print('debug', message, fields);
    },
    info: (message, fields) => print('info', message, fields),
    warn: (message, fields) => print('warn', message, fields),
    error: (message, fields) => print('error', message, fields),
    with: (fields) => createJsonLog(options, { ...always, ...fields }),
  };
}
