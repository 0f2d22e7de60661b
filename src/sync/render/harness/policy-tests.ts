/**
 * Reads the tests of policies that a fleet has, in the sandbox: a test file is a program like the fleet itself. Each test leaves
 * the sandbox as data, and is run outside of it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { POLICY_TESTS_FOLDER } from '../../../api/validation/policy-tests.ts';
import { isRecord, textAt } from '../../../kube/objects/json.ts';
import { POLICY_TEST, type RenderJob } from '../protocol.ts';
import type { Output } from './output.ts';

const TEST_FILE = /(?<!\.d)\.[cm]?[jt]s$/;

export async function collectPolicyTests(
  { root, path }: Pick<RenderJob, 'root' | 'path'>,
  out: Output,
  onError: (error: unknown, file: string) => void,
): Promise<void> {
  const folder = join(normalize(path), POLICY_TESTS_FOLDER);
  const names = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
  for (const name of names.filter((each) => TEST_FILE.test(each)).toSorted()) {
    const file = join(folder, name);
    try {
      await collectFrom(root, file, out);
    } catch (error) {
      onError(error, file);
    }
  }
}

async function collectFrom(root: string, file: string, out: Output): Promise<void> {
  const exported: unknown = await import(pathToFileURL(join(root, file)).href);
  // A module is a record without a prototype of its own.
  const { tests: suite } = exported as { readonly tests?: unknown };
  if (!isRecord(suite) || !Array.isArray(suite['tests'])) {
    const message = 'expected `export const tests = policyTests(policies, […])`';
    out.problem('Failed', { message, file });
    return;
  }
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  for (const [index, test] of (suite['tests'] as readonly unknown[]).entries()) {
    const name = textAt(test, 'name') ?? '';
    const line = lines.findIndex((text) => name !== '' && text.includes(name)) + 1 || 1;
    const spec = { policies: suite['policies'], test };
    const metadata = { name: `${file}:${String(index).padStart(6, '0')}` };
    out.object({
      object: { ...POLICY_TEST, metadata, spec },
      target: 'tests',
      unit: 'policies',
      file: `${file}:${line}`,
    });
  }
}
