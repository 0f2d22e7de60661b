/** The real sops and age-keygen, and a folder in which a test encrypts files with them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtProgram, type GoProgram, whyNotBuilt } from '../node-kit/go-program.ts';
import { run } from '../node-kit/shell.ts';
import { tempFolder } from '../temp.ts';

const SOURCE = fileURLToPath(new URL('./programs', import.meta.url));

const SOPS: GoProgram = {
  program: 'sops',
  version: 'v3.13.3',
  source: SOURCE,
  package: 'github.com/getsops/sops/v3/cmd/sops',
  settings: [],
};

const AGE_KEYGEN: GoProgram = {
  program: 'age-keygen',
  version: 'v1.3.2',
  source: SOURCE,
  package: 'filippo.io/age/cmd/age-keygen',
  settings: [],
};

const RUN_MS = 60_000;

/** Returns their paths. Built once for each machine, which takes two minutes of CPU. */
export async function sopsPrograms(): Promise<{ readonly sops: string; readonly keygen: string }> {
  return { sops: await builtProgram(SOPS), keygen: await builtProgram(AGE_KEYGEN) };
}

/** Explains why this machine has none and cannot build one. */
export async function noSopsReason(): Promise<string | undefined> {
  return (await whyNotBuilt(SOPS)) ?? (await whyNotBuilt(AGE_KEYGEN));
}

export interface Encrypter {
  /** Makes an identity, as a person does. */
  identity(): Promise<AgeIdentity>;
  /** Returns the text as `sops` encrypts it, with the settings of `.sops.yaml` or as arguments. */
  encrypt(text: string, ...args: readonly string[]): Promise<string>;
}

export interface AgeIdentity {
  /** The file of age-keygen. */
  readonly file: string;
  readonly recipient: string;
}

export async function createEncrypter(): Promise<Encrypter> {
  const { sops, keygen } = await sopsPrograms();
  const folder = tempFolder('sops');
  let files = 0;
  return {
    async identity() {
      const path = join(folder, `age-${(files += 1)}.key`);
      await run(keygen, ['-o', path], RUN_MS);
      const file = readFileSync(path, 'utf8');
      return { file, recipient: /age1\w+/.exec(file)?.[0] ?? '' };
    },
    async encrypt(text, ...args) {
      const path = join(folder, `${(files += 1)}.yaml`);
      writeFileSync(path, text);
      await run(sops, ['encrypt', '--in-place', ...args, path], RUN_MS);
      return readFileSync(path, 'utf8');
    },
  };
}
