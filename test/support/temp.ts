/**
 * Folders of tests. A folder created inside a test is removed with the test, one created outside of a test is removed
 * with its file, passed or failed. All are in the temporary folder of the run, which is removed last (leak-guard).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const foldersOfFile: string[] = [];

/** Called by the leak guard after all hooks of the file: files of one worker share this module. */
export function removeFoldersOfFile(): void {
  for (const folder of foldersOfFile.splice(0)) remove(folder);
}

/** Creates an empty folder that is removed automatically. */
export function tempFolder(name = 'test'): string {
  const folder = mkdtempSync(join(tmpdir(), `kubenode-${name}-`));
  if (!afterThisTest(() => remove(folder))) foldersOfFile.push(folder);
  return folder;
}

/** False outside of a test, where vitest throws. */
function afterThisTest(clean: () => void): boolean {
  try {
    onTestFinished(clean);
    return true;
  } catch {
    return false;
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
