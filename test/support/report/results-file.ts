/** The file in KUBENODE_RESULTS: a JSON line for each run of vitest. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { RunResult } from './results.ts';

export function appendResult(file: string, result: RunResult): void {
  appendFileSync(file, lineOf(result));
}

export function replaceResults(file: string, results: readonly RunResult[]): void {
  writeFileSync(file, results.map(lineOf).join(''));
}

export function readResults(file: string): readonly RunResult[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as RunResult);
}

function lineOf(result: RunResult): string {
  return `${JSON.stringify(result)}\n`;
}
