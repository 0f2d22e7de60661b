/** docs/guides/helm-and-kustomize.md: a repository with an overlay, and the program of the page. */
import type { Guide } from './guide.ts';

export const helmAndKustomize: Guide = {
  path: 'docs/guides/helm-and-kustomize.md',
  async before(reader) {
    await reader.run(
      'mkdir -p ../charts/base ../charts/overlays/prod ../charts/manifests/prod && cd ../charts',
    );
    // As `helm template` writes it.
    await reader.run(`cat > base/shop.yaml <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {open: "no"}
EOF`);
    await reader.run(`cat > overlays/prod/kustomization.yaml <<'EOF'
resources: [shop.yaml]
namespace: shop
patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}, data: {open: "yes"}}'}]
EOF`);
    await reader.run('cp base/shop.yaml overlays/prod/');
  },
  expectations: [
    {
      at: 'kubectl kustomize overlays/prod',
      async after(reader) {
        const [program = ''] = reader.page.blocks('ts');
        await reader.run(`cat > main.ts <<'EOF'\n${program}EOF`);
        await reader.shows('kubenode render . -o yaml', /name: settings/);
      },
    },
  ],
};
