/** The Log port with pino, as JSON lines or as text. Secrets are redacted before pino gets the fields (redact-log.ts). */
import { pino } from 'pino';
import type { Clock } from '../../os/clock.ts';
import { printableText } from '../objects/printable.ts';
import type { Log, LogFields } from './log.ts';
import { logText } from './log-text.ts';
import { redactFields } from './redact-log.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export type LogFormat = 'json' | 'text';
export const LOG_FORMATS: readonly LogFormat[] = ['json', 'text'];

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** Default: JSON. */
  readonly format?: LogFormat;
  /** The destination. Standard error by default: standard output is for results. */
  readonly stream?: LogStream;
  readonly clock: Pick<Clock, 'now'>;
}

export interface LogStream {
  /** Called once for each line. */
  write(line: string): unknown;
  /** Called after a warning or an error, for a stream that collects lines: it may be the last line of a process that hangs. */
  flush?(): void;
}

export function createLogger({
  level = 'info',
  format = 'json',
  stream = process.stderr,
  clock,
}: LoggerOptions): Log {
  const formatted = format === 'text' ? logText : printableText;
  const target = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${clock.now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // redactFields has already converted everything to plain JSON, including errors.
      serializers: {},
    },
    { write: (line: string) => void stream.write(formatted(line)) },
  );
  const flush = (of: LogLevel): void => {
    if (of === 'warn' || of === 'error') stream.flush?.();
  };
  return loggerOver({ target, flush }, {});
}

interface Destination {
  readonly target: PinoTarget;
  readonly flush: (of: LogLevel) => void;
}

/** The part of pino that is used here. */
interface PinoTarget {
  isLevelEnabled(level: string): boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

function loggerOver(destination: Destination, always: LogFields): Log {
  const { target, flush } = destination;
  const write = (level: LogLevel, message: string, fields: LogFields | undefined): void => {
    if (!target.isLevelEnabled(level)) return;
    target[level](renameReserved(redactFields({ ...always, ...fields })), message);
    flush(level);
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    with: (fields) => loggerOver(destination, { ...always, ...fields }),
  };
}

const RESERVED = new Set(['level', 'time', 'message']);

/** Fields must not reuse the names of the frame, because readers disagree about duplicate keys in JSON. */
function renameReserved(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED.has(name) ? `${name}_` : name, value]),
  );
}
