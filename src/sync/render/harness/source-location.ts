/** Files and lines of the program: where a construct was made, and where an error came from. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import type { RenderProblem } from '../errors.ts';
import type { RenderJob } from '../protocol.ts';

const FRAMES = 60;

export interface SourceLocation {
  readonly file: string;
  readonly line: number;
}

export interface SourceLocator {
  /** The innermost frame of the program that runs now. */
  here(): SourceLocation | undefined;
  /** The innermost frame of the program in an error's stack. */
  ofError(error: unknown): SourceLocation | undefined;
}

export function createSourceLocator({ root, code }: Pick<RenderJob, 'root' | 'code'>): SourceLocator {
  const [inside, own] = [join(root, '/'), join(code, '/')];
  // Taken now: a program may replace what it finds.
  const sites = getCallSites;
  return { here, ofError };

  function here(): SourceLocation | undefined {
    for (const { scriptName, lineNumber } of sites(FRAMES)) {
      const file = relativeTo(scriptName);
      if (file !== undefined) return { file, line: lineNumber };
    }
    return undefined;
  }

  function ofError(error: unknown): SourceLocation | undefined {
    const { stack } = (error ?? {}) as { stack?: unknown };
    const text = typeof stack === 'string' ? stack : '';
    for (const { groups } of text.matchAll(/(?<at>(?:file:\/\/)?\/[^\s:()]+):(?<line>\d+)/g)) {
      const file = relativeTo(groups?.['at'] ?? '');
      if (file !== undefined) return { file, line: Number(groups?.['line']) };
    }
    return undefined;
  }

  function relativeTo(name: string): string | undefined {
    const path = name.startsWith('file:') ? fileURLToPath(name) : name;
    const ofProgram = path.startsWith(inside) && !path.startsWith(own) && !path.includes('/node_modules/');
    return ofProgram ? path.slice(inside.length) : undefined;
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
