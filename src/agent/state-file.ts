/** JSON files of the agent on its host. A damaged file counts as missing. */
import type { HostFiles } from './host/port.ts';

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

export async function readStateFile<T>(files: Pick<HostFiles, 'read'>, path: string): Promise<T | undefined> {
  const content = await files.read(path);
  if (!content) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(content)) as T;
  } catch {
    return undefined;
  }
}

export async function writeStateFile(
  files: Pick<HostFiles, 'write'>,
  path: string,
  state: unknown,
): Promise<void> {
  await files.write(path, new TextEncoder().encode(JSON.stringify(state)), ATTRIBUTES);
}
