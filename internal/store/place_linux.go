package store

import "golang.org/x/sys/unix"

// networkFS names the network file system that a folder is on; "" is none.
func networkFS(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	return networkName(uint32(s.Type)), nil
}

// networkName names a file system by the number in statfs(2).
func networkName(kind uint32) string {
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS",
		unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
		unix.AFS_SUPER_MAGIC: "AFS", unix.AFS_FS_MAGIC: "AFS",
		unix.V9FS_MAGIC: "9P", unix.CEPH_SUPER_MAGIC: "Ceph", unix.CODA_SUPER_MAGIC: "Coda", unix.NCP_SUPER_MAGIC: "NCP",
	}[kind]
}
