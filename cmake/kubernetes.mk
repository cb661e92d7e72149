# Charts, kinds and image. Included by the Makefile.
KUBE_TOOLS := tests/operator/tools/build.sh
# Empty: localhost/braidmq with the version of CMakeLists.txt.
IMAGE ?=
# All three programs, as the image holds them; those that this tree does not have yet can be left out.
PROGRAMS ?= braid-broker braid-operator braidctl
BASE ?= docker.io/library/debian:bookworm-slim

.PHONY: crds helm-lint crds-test operator-test image kube-packages
kube-packages:
	@cmake/install-packages.sh cmake/packages-kubernetes.txt

# From nothing to programs, an image and clients for a Kubernetes.
.PHONY: e2e-packages
e2e-packages:
	@cmake/install-packages.sh cmake/packages.txt cmake/packages-clients.txt cmake/packages-dev.txt cmake/packages-kubernetes.txt

crds: kube-packages ## Copies of crds/, schemas of values and manifests/, all made from crds/ and charts/
	@$(KUBE_TOOLS) helm
	@charts/generate.py

helm-lint: kube-packages ## Charts: helm lint, kubeconform, promtool, yamllint; ends with counts
	@$(KUBE_TOOLS) helm kubeconform
	@tests/charts/lint.py $(if $(ONLY),--only '$(ONLY)')

crds-test: kube-packages ## Every rule of crds/, and the charts, on a real kube-apiserver; ends with counts
	@$(KUBE_TOOLS) helm kube-apiserver
	@tests/operator/crds/run.py $(if $(ONLY),--only '$(ONLY)')

operator-test: build kube-packages ## The operator on a real kube-apiserver, with a kubelet and a broker that the test plays
	@$(KUBE_TOOLS) kube-apiserver
	@tests/operator/reconcile/run.py --operator build/debug/operator/app/braid-operator --ready-seconds 0 $(if $(ONLY),--only '$(ONLY)')

# buildah first: it needs no daemon. Without user namespaces it has to do without isolation.
image: ## Image localhost/braidmq:VERSION of the release programs; FULL=1 compiles inside the image
	@BASE='$(BASE)' JOBS=$(JOBS) cmake/build-image.sh '$(IMAGE)' $(if $(FULL),full,prebuilt) $(PROGRAMS)
