/** Reads and writes the ConfigMaps of the audit record of one writer. */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../kube/objects/core-kinds.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE_AUDIT } from '../names.ts';
import { type AuditWriter, headName, type PartText, partName } from './parts.ts';

export interface AuditPart extends PartText {
  /** Undefined: not created yet. */
  readonly object: KubeObject | undefined;
}

export interface PartStoreOptions {
  readonly client: Pick<Client, 'get' | 'create' | 'replace' | 'delete'>;
  readonly writer: AuditWriter;
  readonly fieldManager: string;
}

export interface PartStore {
  /** Returns the number that the ConfigMap of the head names; 1 without it. */
  newestNumber(): Promise<number>;
  writeNewestNumber(number: number): Promise<void>;
  read(number: number): Promise<AuditPart>;
  /** Creates the part if `before` has no object, and replaces that object otherwise, by compare-and-swap. */
  write(part: PartText, before: KubeObject | undefined): Promise<AuditPart>;
  delete(number: number): Promise<void>;
}

type Data = Readonly<Record<string, string>>;

export function createPartStore({ client, writer, fieldManager }: PartStoreOptions): PartStore {
  return {
    async newestNumber() {
      return Math.max(1, Number(textAt(await find(headName(writer)), 'data', 'newest')) || 1);
    },
    async writeNewestNumber(number) {
      const name = headName(writer);
      await put(name, { newest: String(number) }, await find(name));
    },
    async read(number) {
      const object = await find(partName(writer, number));
      return { number, text: textAt(object, 'data', 'lines') ?? '', object };
    },
    write: async ({ number, text }, before) => ({
      number,
      text,
      object: await put(partName(writer, number), { lines: text }, before),
    }),
    async delete(number) {
      const name = partName(writer, number);
      const uid = (await find(name))?.metadata.uid;
      if (uid !== undefined) await client.delete(CONFIG_MAPS, { name, namespace: NAMESPACE_AUDIT }, { uid });
    },
  };

  async function find(name: string): Promise<KubeObject | undefined> {
    try {
      return await client.get(CONFIG_MAPS, { name, namespace: NAMESPACE_AUDIT });
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  function put(name: string, data: Data, before: KubeObject | undefined): Promise<KubeObject> {
    const created = { name, namespace: NAMESPACE_AUDIT, labels: { [LABEL_MANAGED_BY]: MANAGED_BY } };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: before?.metadata ?? created, data };
    const write = before ? client.replace.bind(client) : client.create.bind(client);
    return write(CONFIG_MAPS, object, { fieldManager });
  }
}
