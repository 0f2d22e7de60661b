/** The folder of the host with the configuration of the detector. */
import type { HostFiles } from '../host/port.ts';
import { DETECTOR_DIRECTORY } from '../layout.ts';
import type { ConfigFile } from './config/load.ts';

/** Reads the files of the folder that end in .json. Undefined if the folder is missing. */
export async function readConfigFolder(
  files: Pick<HostFiles, 'list' | 'read' | 'stat'>,
): Promise<readonly ConfigFile[] | undefined> {
  if (!(await files.stat(DETECTOR_DIRECTORY))) return undefined;
  const names = (await files.list(DETECTOR_DIRECTORY)).filter((name) => name.endsWith('.json')).toSorted();
  const found = await Promise.all(
    names.map(async (name): Promise<ConfigFile | readonly []> => {
      const content = await files.read(`${DETECTOR_DIRECTORY}/${name}`);
      return content ? { name, content: new TextDecoder().decode(content) } : [];
    }),
  );
  return found.flat();
}
