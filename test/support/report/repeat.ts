/**
 * `node test/support/report/repeat.ts FILE`: runs the test files again that failed in the runs whose results are in FILE, one after the other
 * with nothing beside them, and writes the judged results back. No second run lasts beyond KUBENODE_REPEAT_UNTIL, in milliseconds
 * since the epoch: a file for which no time is left has failed.
 */
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { FileResult } from './results.ts';
import { readResults, replaceResults } from './results-file.ts';
import { runVitest } from './run-vitest.ts';
import { type FileName, filesThatFailed, judgeSecondRun } from './second-run.ts';

/** So many files fail by a fault: a second run of each would take hours and tell nothing new. */
const MOST_REPEATED = 10;

const clock = createSystemClock();
const until = process.env['KUBENODE_REPEAT_UNTIL'];
const [path = ''] = process.argv.slice(2);
const results = readResults(path);
const failed = filesThatFailed(results);
if (failed.length > MOST_REPEATED) {
  print(`${failed.length} files failed: at most ${MOST_REPEATED} are repeated, so none is`);
} else {
  const { results: judged, lines } = judgeSecondRun(results, await repeatAll(failed));
  replaceResults(path, judged);
  for (const line of lines) print(line);
}

async function repeatAll(files: readonly FileName[]): Promise<readonly FileResult[]> {
  const repeated: FileResult[] = [];
  for (const each of files) {
    print(`again: ${each.project} ${each.file}`);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    repeated.push(...(await repeat(each)));
  }
  return repeated;
}

/** A leak of the whole run, as an error outside of the file, counts against it. */
async function repeat({ project, file }: FileName): Promise<readonly FileResult[]> {
  const limitMs = until === undefined ? undefined : Number(until) - Number(clock.now());
  if (limitMs !== undefined && limitMs <= 0) {
    print(`no time is left for ${file}: it has failed`);
    return [];
  }
  const result = await runVitest(['--project', project, file], { limitMs });
  const found = result?.files.find((each) => each.file === file && each.project === project);
  return found && result?.errors.length === 0 ? [found] : [];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
