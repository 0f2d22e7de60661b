/** Writes everything that is generated from the kinds: `npm run generate`. Same kinds, same bytes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { constructFiles } from './generate/construct.ts';
import { crdFile } from './generate/crd.ts';
import type { GeneratedFile } from './generate/file.ts';
import { typesFile } from './generate/types.ts';
import { validatorFiles } from './generate/validator.ts';
import { policyFiles } from './policies/generated-files.ts';
import { API_VERSION, GROUP, KINDS, VERSION } from './registry.ts';

export function generatedFiles(): readonly GeneratedFile[] {
  return [
    typesFile(KINDS, API_VERSION),
    ...KINDS.map((kind) => crdFile(kind, GROUP, VERSION)),
    ...validatorFiles(KINDS),
    ...constructFiles(KINDS, API_VERSION),
    ...policyFiles(),
  ];
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  for (const { path, text } of generatedFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
