/** Writes everything that is generated from the kinds: `npm run generate`. Deterministic: the same kinds give the same bytes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { API_VERSION, GROUP, KINDS, VERSION } from '../kinds/registry.ts';
import { policyFiles } from '../policies/generated-files.ts';
import { STEP_DEFINITIONS } from '../steps/registry.ts';
import { constructFiles } from './construct.ts';
import { crdFile, crdsFile } from './crd.ts';
import type { GeneratedFile } from './file.ts';
import { resourcesFile } from './resources.ts';
import { agentStepsFile, stepsFile } from './steps.ts';
import { typesFile } from './types.ts';
import { validatorFiles } from './validator.ts';

export function generatedFiles(): readonly GeneratedFile[] {
  return [
    typesFile(KINDS, API_VERSION),
    agentStepsFile(STEP_DEFINITIONS),
    stepsFile(STEP_DEFINITIONS),
    resourcesFile(KINDS, GROUP, VERSION),
    ...KINDS.map((kind) => crdFile(kind, GROUP, VERSION)),
    crdsFile(KINDS, GROUP, VERSION),
    ...validatorFiles(KINDS),
    ...constructFiles(KINDS, API_VERSION),
    ...policyFiles(),
  ];
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../../..');
  for (const { path, text } of generatedFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
