/** How a program that runs for long logs: which lines, and in which form. */
import { type Command, Option } from 'commander';
import type { Log } from '../kube/process/log.ts';
import {
  createLogger,
  LOG_FORMATS,
  LOG_LEVELS,
  type LogFormat,
  type LogLevel,
  type LogStream,
} from '../kube/process/logger.ts';
import type { Io } from './io.ts';

export interface LogFlags {
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat;
}

export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'lowest level to log').choices([...LOG_LEVELS]).default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'form of the log (default: text on a terminal, else json)').choices(
        [...LOG_FORMATS],
      ),
    );
}

export function createCommandLog(io: Io, { logLevel, logFormat }: LogFlags, stream: LogStream): Log {
  const format = logFormat ?? (io.interactive ? 'text' : 'json');
  return createLogger({ level: logLevel, format, stream, clock: io.clock });
}
