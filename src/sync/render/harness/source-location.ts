/** Files and lines of the program: where a construct was created, and where an error was thrown. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import type { RenderProblem } from '../errors.ts';
import type { RenderJob } from '../protocol.ts';

const MAX_FRAMES = 60;

export interface SourceLocation {
  readonly file: string;
  readonly line: number;
}

export interface SourceLocator {
  /** Returns the innermost frame of the program on the current stack. */
  here(): SourceLocation | undefined;
  /** Returns the innermost frame of the program on the stack of an error. */
  ofError(error: unknown): SourceLocation | undefined;
}

export function createSourceLocator({ root, code }: Pick<RenderJob, 'root' | 'code'>): SourceLocator {
  const [repository, ownCode] = [join(root, '/'), join(code, '/')];
  // Captured before the program can replace it.
  const callSites = getCallSites;
  return { here, ofError };

  function here(): SourceLocation | undefined {
    for (const { scriptName, lineNumber } of callSites(MAX_FRAMES)) {
      const file = relativeTo(scriptName);
      if (file !== undefined) return { file, line: lineNumber };
    }
    return undefined;
  }

  function ofError(error: unknown): SourceLocation | undefined {
    const { stack } = (error ?? {}) as { stack?: unknown };
    const text = typeof stack === 'string' ? stack : '';
    for (const { groups } of text.matchAll(/(?<name>(?:file:\/\/)?\/[^\s:()]+):(?<line>\d+)/g)) {
      const file = relativeTo(groups?.['name'] ?? '');
      if (file !== undefined) return { file, line: Number(groups?.['line']) };
    }
    return undefined;
  }

  function relativeTo(name: string): string | undefined {
    const path = name.startsWith('file:') ? fileURLToPath(name) : name;
    const isProgramFile =
      path.startsWith(repository) && !path.startsWith(ownCode) && !path.includes('/node_modules/');
    return isProgramFile ? path.slice(repository.length) : undefined;
  }
}

export function problemOf(error: unknown, locator: SourceLocator, construct?: string): RenderProblem {
  const { message } = (error ?? {}) as { message?: unknown };
  return {
    message: typeof message === 'string' && message !== '' ? message : String(error),
    ...locator.ofError(error),
    ...(construct === undefined ? {} : { construct }),
  };
}
