/** A Log that keeps its lines in memory, for assertions. */
import type { Log, LogFields } from '../../src/kube/process/log.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

export interface MemoryLog extends Log {
  readonly lines: readonly LogLine[];
}

export function memoryLog(): MemoryLog {
  return over([], {});
}

function over(lines: LogLine[], always: LogFields): MemoryLog {
  const line =
    (level: LogLine['level']) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields: { ...always, ...fields } });
    };
  return {
    lines,
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => over(lines, { ...always, ...fields }),
  };
}
