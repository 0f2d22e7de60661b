/** The Log port as JSON lines, by pino. What may not be seen is masked before pino gets it (logger-mask.ts). */
import { pino } from 'pino';
import type { Clock } from '../../os/clock.ts';
import type { Log, LogFields } from './log.ts';
import { redactFields } from './redact-log.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** Where the lines go; a line is one call of `write`. Standard error by default: standard output is for answers. */
  readonly stream?: { write(line: string): unknown };
  readonly clock: Pick<Clock, 'now'>;
}

export function createLogger({ level = 'info', stream = process.stderr, clock }: LoggerOptions): Log {
  const target = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${clock.now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // Our own masking has made plain JSON of everything, errors included.
      serializers: {},
    },
    { write: (line: string) => void stream.write(line) },
  );
  return loggerOver(target, {});
}

/** Only what pino is used for here. */
interface Target {
  isLevelEnabled(level: string): boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

function loggerOver(target: Target, always: LogFields): Log {
  const line = (level: LogLevel, message: string, fields: LogFields | undefined): void => {
    if (!target.isLevelEnabled(level)) return;
    target[level](reserved(redactFields({ ...always, ...fields })), message);
  };
  return {
    debug: (message, fields) => line('debug', message, fields),
    info: (message, fields) => line('info', message, fields),
    warn: (message, fields) => line('warn', message, fields),
    error: (message, fields) => line('error', message, fields),
    with: (fields) => loggerOver(target, { ...always, ...fields }),
  };
}

const RESERVED = new Set(['level', 'time', 'message']);

/** JSON with the same key twice is read differently by every reader: fields never take the names of the frame. */
function reserved(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED.has(name) ? `${name}_` : name, value]),
  );
}
