/** A real program in the place of nvidia-smi: it records its arguments, and answers as the manual of NVIDIA documents it. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const UUIDS = [
  'GPU-8f6b2a10-3c55-9d1e-0b7a-5f3c2e1d4a90',
  'GPU-1c0e7d33-52aa-4b6f-9e21-77d0c4b8e6f1',
] as const;
export const ADDRESSES = ['0000:3b:00', '0000:cb:00'] as const;
export const LIST = UUIDS.map((uuid, index) => `${index}, ${uuid}, 0000${ADDRESSES[index]?.toUpperCase()}.0`);

export interface SmiProgram {
  readonly path: string;
  /** The arguments of each call. */
  calls(): readonly string[];
  resets(): number;
}

/** The bodies are lines of a shell script, such as `echo text; exit 3`. */
export interface SmiAnswers {
  readonly list?: string;
  readonly processes?: string;
  readonly reset?: string;
}

export function writeSmi(directory: string, { list, processes, reset }: SmiAnswers = {}): SmiProgram {
  const [path, log] = [join(directory, 'nvidia-smi'), join(directory, 'calls')];
  const script = `#!/bin/sh
echo "$*" >> '${log}'
case "$1" in
  --query-gpu=index,uuid,pci.bus_id) ${list ?? LIST.map((line) => `echo '${line}'`).join('; ')} ;;
  --query-compute-apps=gpu_uuid,pid,process_name) ${processes ?? ':'} ;;
  --gpu-reset) ${reset ?? "echo 'GPU was successfully reset.'; echo 'All done.'"} ;;
  *) exit 2 ;;
esac
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  const calls = (): readonly string[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  return { path, calls, resets: () => calls().filter((each) => each.startsWith('--gpu-reset')).length };
}
