/** Writes lines to the parent. Captures the functions that it needs before the program can replace them. */
import { writeSync } from 'node:fs';
import type { RenderErrorCode, RenderProblem } from '../errors.ts';
import { type OutputLine, RESULT_FD } from '../protocol.ts';

const BUFFER_CHARACTERS = 256 * 1024;

export interface Output {
  object(line: Extract<OutputLine, { object: unknown }>): void;
  problem(code: RenderErrorCode, problem: RenderProblem): void;
  warning(text: string): void;
  end(): void;
}

export function createOutput(): Output {
  const { stringify } = JSON;
  const write = writeSync;
  let text = '';
  let objects = 0;

  return {
    object: (line) => {
      objects += 1;
      writeLine(line);
    },
    problem: (code, problem) => writeLine({ code, problem }),
    warning: (warning) => writeLine({ warning }),
    end: () => {
      writeLine({ end: objects });
      flush();
    },
  };

  function writeLine(line: OutputLine): void {
    text += `${stringify(line)}\n`;
    if (text.length > BUFFER_CHARACTERS) flush();
  }

  /** A program may have made the pipe non-blocking: then we wait until the parent has read from it. */
  function writeAvailable(bytes: Buffer): number {
    try {
      return write(RESULT_FD, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      return 0;
    }
  }

  function flush(): void {
    let bytes: Buffer = Buffer.from(text);
    text = '';
    while (bytes.length > 0) bytes = bytes.subarray(writeAvailable(bytes));
  }
}
