/**
 * Folders of a test. What is made inside a test goes with it, what is made outside of one goes with its
 * file, passed or failed. Everything lies in the temporary folder of the run, which goes last (leak-guard.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const ofThisFile: string[] = [];

// Registered while the file is collected, so before its own hooks: it runs after all of them.
afterAll(() => {
  for (const folder of ofThisFile.splice(0)) remove(folder);
});

/** An empty folder that is removed for you. */
export function tempFolder(name = 'test'): string {
  const folder = mkdtempSync(join(tmpdir(), `kubenode-${name}-`));
  if (!afterThisTest(() => remove(folder))) ofThisFile.push(folder);
  return folder;
}

/** False outside of a test: vitest says so by throwing. */
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
