package main

// How the parts are started, with which flags, and when each is ready.

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

type cluster struct {
	children  *children
	authority *authority
	url       string
	admin     string
	audit     string
	// By role: asks whether the part is ready. A role that is not there is ready when it runs.
	ready map[string]func() error
	// Nothing when no kubelet runs.
	node *node
}

// A part that is not ready after this long never will be. On a busy machine with two cores an API server needs about
// ten seconds.
const patience = 3 * time.Minute

func startCluster(children *children, options options) (*cluster, error) {
	authority, err := newAuthority(children.folder)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(5)
	if err != nil {
		return nil, err
	}
	cluster := &cluster{
		children:  children,
		authority: authority,
		url:       fmt.Sprintf("https://127.0.0.1:%d", ports[2]),
		audit:     filepath.Join(children.folder, "audit.log"),
		ready:     map[string]func() error{},
	}
	if cluster.admin, err = authority.kubeconfig(cluster.url, "admin", []string{"system:masters"}, clusterLifetime); err != nil {
		return nil, err
	}
	tokenKey, err := authority.tokenKey()
	if err != nil {
		return nil, err
	}
	store := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	if err := cluster.startStore(store, fmt.Sprintf("http://127.0.0.1:%d", ports[1])); err != nil {
		return nil, err
	}
	if err := cluster.startServer(store, ports[2], tokenKey); err != nil {
		return nil, err
	}
	if err := cluster.startControllers(ports[3], tokenKey, options.grace); err != nil {
		return nil, err
	}
	if err := cluster.startScheduler(ports[4]); err != nil {
		return nil, err
	}
	for _, role := range []string{"kube-controller-manager", "kube-scheduler"} {
		if err := cluster.await(role); err != nil {
			return nil, err
		}
	}
	if options.kubelet != "" {
		cluster.node, err = cluster.startKubelet(options.kubelet)
	}
	return cluster, err
}

func (cluster *cluster) describe() description {
	described := description{
		URL:        cluster.url,
		CA:         cluster.authority.pair("ca").certificate,
		Kubeconfig: cluster.admin,
		AuditLog:   cluster.audit,
		Folder:     cluster.children.folder,
	}
	if cluster.node != nil {
		described.Kubelet = cluster.node.describe()
	}
	return described
}

func (cluster *cluster) startStore(client, peer string) error {
	return cluster.children.add(&child{role: "etcd", arguments: []string{
		"--unsafe-no-fsync", "--log-level=warn",
		"--data-dir=" + filepath.Join(cluster.children.folder, "etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
	}})
}

func (cluster *cluster) startServer(store string, port int, tokenKey string) error {
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	serving, err := cluster.authority.issue("kube-apiserver", pkix.Name{CommonName: "kube-apiserver"}, names, clusterLifetime)
	if err != nil {
		return err
	}
	kubelets := pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}}
	client, err := cluster.authority.issue("kubelet-client", kubelets, nil, clusterLifetime)
	if err != nil {
		return err
	}
	policy, err := writeAuditPolicy(cluster.children.folder)
	if err != nil {
		return err
	}
	authority := cluster.authority.pair("ca")
	err = cluster.children.add(&child{role: "kube-apiserver", arguments: []string{
		"--etcd-servers=" + store,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		// It would refuse to write a loopback address into the endpoints of the service `kubernetes`.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + serving.certificate, "--tls-private-key-file=" + serving.key,
		"--client-ca-file=" + authority.certificate,
		// Nobody has such a certificate: there are no other API servers behind this one. Without these, controllers and
		// scheduler complain.
		"--requestheader-client-ca-file=" + authority.certificate, "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--kubelet-client-certificate=" + client.certificate, "--kubelet-client-key=" + client.key,
		// No name server knows a node's name.
		"--kubelet-preferred-address-types=InternalIP",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + tokenKey, "--service-account-signing-key-file=" + tokenKey,
		"--allow-privileged=true",
		"--audit-policy-file=" + policy, "--audit-log-path=" + cluster.audit,
		// Blocking: see `audit.go`. One file however much there is, since a file that is rotated away is not read.
		"--audit-log-mode=blocking", "--audit-log-maxsize=100000",
	}})
	if err != nil {
		return err
	}
	cluster.ready["kube-apiserver"], err = cluster.probe(cluster.url+"/readyz", authority.certificate)
	if err != nil {
		return err
	}
	return cluster.await("kube-apiserver")
}

func (cluster *cluster) startControllers(port int, tokenKey string, grace time.Duration) error {
	kubeconfig, err := cluster.component("kube-controller-manager")
	if err != nil {
		return err
	}
	authority := cluster.authority.pair("ca")
	err = cluster.children.add(&child{role: "kube-controller-manager", revived: true, arguments: []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--leader-elect=false",
		"--use-service-account-credentials", "--root-ca-file=" + authority.certificate,
		"--service-account-private-key-file=" + tokenKey,
		"--cluster-signing-cert-file=" + authority.certificate, "--cluster-signing-key-file=" + authority.key,
		"--node-monitor-grace-period=" + grace.String(),
	}})
	if err != nil {
		return err
	}
	cluster.ready["kube-controller-manager"], err = cluster.probe(fmt.Sprintf("https://127.0.0.1:%d/healthz", port), "")
	return err
}

func (cluster *cluster) startScheduler(port int) error {
	kubeconfig, err := cluster.component("kube-scheduler")
	if err != nil {
		return err
	}
	err = cluster.children.add(&child{role: "kube-scheduler", revived: true, arguments: []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--leader-elect=false",
	}})
	if err != nil {
		return err
	}
	cluster.ready["kube-scheduler"], err = cluster.probe(fmt.Sprintf("https://127.0.0.1:%d/healthz", port), "")
	return err
}

func (cluster *cluster) component(name string) (string, error) {
	return cluster.authority.kubeconfig(cluster.url, "system:"+name, nil, clusterLifetime)
}

// Asks an address for a 200. Without an authority the server has a certificate that it made for itself.
func (cluster *cluster) probe(url, authority string) (func() error, error) {
	trust := &tls.Config{InsecureSkipVerify: true}
	if authority != "" {
		text, err := os.ReadFile(authority)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", authority)
		}
		trust = &tls.Config{RootCAs: pool}
	}
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true},
	}
	return func() error {
		response, err := client.Get(url)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s: %s", url, response.Status, body)
		}
		return nil
	}, nil
}

// Waits until a part is ready.
func (cluster *cluster) await(role string) error {
	ready := cluster.ready[role]
	if ready == nil {
		return nil
	}
	child, err := cluster.children.find(role)
	if err != nil {
		return err
	}
	err = errors.New("not asked yet")
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		select {
		case fallen := <-cluster.children.fallen:
			if err := cluster.children.revive(fallen); err != nil {
				return err
			}
		default:
		}
		if err = ready(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s is not ready after %s: %w; the end of its log:\n%s", role, patience, err, child.tail())
}
