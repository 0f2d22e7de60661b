/** Objects from a YAML file of the repository, such as one that `helm template` or `kustomize build` wrote. */
import { readFileSync } from 'node:fs';
import { ApiObject, type ApiObjectProps } from 'cdk8s';
import { Construct } from 'constructs';
import { readManifests } from '../kube/objects/manifests.ts';

/**
 * Every object of the file, as part of the unit that is its scope. What SOPS encrypted stays encrypted: sync decrypts it. cdk8s `Include` and `Helm` start other programs, which a render
 * does not permit.
 */
export class YamlFile extends Construct {
  readonly objects: readonly ApiObject[];

  /** `file`: a path in the repository, or a URL such as `new URL('../shop.yaml', import.meta.url)`. */
  constructor(scope: Construct, id: string, file: string | URL) {
    super(scope, id);
    const { manifests, problems } = readManifests(readFileSync(file, 'utf8'));
    const name = String(file);
    this.node.addValidation({
      validate: () => problems.map(({ line, message }) => `${name}:${line}: ${message}`),
    });
    this.objects = manifests.map(({ object }, index) => {
      const { kind, metadata } = object;
      return new ApiObject(this, `${index}-${kind}-${metadata.name}`, object as unknown as ApiObjectProps);
    });
  }
}
